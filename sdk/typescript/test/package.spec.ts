import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const sdk = resolve(__dirname, '..');
const root = resolve(sdk, '../..');

/** These tests use the package as a consumer does: by its name, through its `exports`. */
describe('the package', () => {
  // A compiler runs in most of these tests, which takes long on a busy machine.
  jest.setTimeout(120_000);
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'consumer-'));
    mkdirSync(join(folder, 'node_modules/@portal-auth'), { recursive: true });
    symlinkSync(sdk, join(folder, 'node_modules/@portal-auth/sdk'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Problems of the program and of all declarations that it imports, except those of the compiler's own libraries. */
  function problemsOf(name: string, text: string, options: ts.CompilerOptions): string[] {
    const file = join(folder, name);
    writeFileSync(file, text);
    const target = ts.ScriptTarget.ES2022;
    const all = { strict: true, noEmit: true, skipDefaultLibCheck: true, target, types: [], ...options };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram([file], all));
    return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  }

  const kinds = [
    ['Node', 'ts', { module: ts.ModuleKind.NodeNext }],
    ['CommonJS in Node', 'cts', { module: ts.ModuleKind.Node16 }],
    ['a bundler', 'ts', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
    [
      'a compiler that does not read "exports"',
      'cts',
      {
        module: ts.ModuleKind.CommonJS,
        moduleResolution: ts.ModuleResolutionKind.Node10,
        ignoreDeprecations: '6.0',
      },
    ],
  ] as const;

  it.each(kinds)('its types need neither the library "dom" nor those of Node, for %s', (_case, ending, options) => {
    const text = `
      import { type KeyValueStorage, PortalAuth } from '@portal-auth/sdk';
      import { type AdminUser, PortalAdmin } from '@portal-auth/sdk/admin';
      import { login, type LoginResponse } from '@portal-auth/sdk/operations';
      import * as passkeys from '@portal-auth/sdk/passkeys';
      const storage: KeyValueStorage = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
      const baseUrl = 'https://auth.example.com';
      const auth = new PortalAuth({ baseUrl, storage, passkeys: () => Promise.resolve(passkeys) });
      export const size = async (): Promise<number> => (await auth.enrolmentQrCode()).size;
      export const answer = async (): Promise<LoginResponse | undefined> =>
        (await login({ body: { username: 'a', password: 'b', captcha_token: 'c' } })).data?.data;
      export const names = async (): Promise<string[]> => {
        const found: AdminUser[] = [];
        for await (const user of new PortalAdmin(auth).users({ query: 'a', status: 1 })) found.push(user);
        return found.map(({ login_name }) => login_name);
      };
      const wrong: string = auth.snapshot.waiting.code;`;
    expect(problemsOf(`plain.${ending}`, text, { ...options, lib: ['lib.es2023.d.ts'] })).toEqual([
      "Type 'number' is not assignable to type 'string'.",
    ]);
  });

  it('uses the types of the library "dom" in a program that has it', () => {
    const text = `
      import { PortalAuth } from '@portal-auth/sdk';
      const passkeys = () => import('@portal-auth/sdk/passkeys');
      const auth = new PortalAuth({ baseUrl: '', fetch, locks: navigator.locks, storage: localStorage, passkeys });
      void auth.signInWithPasskey({ autofill: true, signal: new AbortController().signal });
      export const url = async (): Promise<string> => URL.createObjectURL(await auth.enrolmentQrCode());`;
    const lib = ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'];
    expect(problemsOf('page.ts', text, { module: ts.ModuleKind.NodeNext, lib })).toEqual([]);
  });

  const program = (start: string) => `
    ${start}
    const auth = new PortalAuth({ baseUrl: 'http://127.0.0.1:9' });
    console.log(JSON.stringify([clientRules.resendSeconds, auth.snapshot.step.kind, typeof login, typeof PortalAdmin]));`;

  it.each([
    [
      'ES modules',
      ['--input-type=module'],
      `import { clientRules, PortalAuth } from '@portal-auth/sdk';
       import { PortalAdmin } from '@portal-auth/sdk/admin';
       import { login } from '@portal-auth/sdk/operations';`,
    ],
    [
      // Without this option Node would load the ES modules.
      'CommonJS',
      ['--input-type=commonjs', '--no-experimental-require-module'],
      `const { clientRules, PortalAuth } = require('@portal-auth/sdk');
       const { PortalAdmin } = require('@portal-auth/sdk/admin');
       const { login } = require('@portal-auth/sdk/operations');`,
    ],
  ])('the entry points without a dependency load in Node as %s', (_case, options, start) => {
    const output = execFileSync(process.execPath, [...options, '-e', program(start)], { cwd: folder });
    expect(JSON.parse(output.toString())).toEqual([60, 'signed-out', 'function', 'function']);
  });

  it.each([
    ['ES modules', ['--input-type=module'], `await import('@portal-auth/sdk/passkeys')`],
    ['CommonJS', ['--input-type=commonjs', '--no-experimental-require-module'], `require('@portal-auth/sdk/passkeys')`],
  ])('only /passkeys needs the package for WebAuthn, as %s', (_case, options, load) => {
    const typeOf = (name: string, loaded: string, cwd: string) => {
      const code = `(async () => typeof (${loaded}).${name})().catch(({ code }) => code).then(console.log)`;
      return execFileSync(process.execPath, [...options, '-e', code], { cwd })
        .toString()
        .trim();
    };
    expect(typeOf('get', load, folder)).toBe('function');

    // A project that has installed the SDK alone. A copy, because Node would follow a link to this repository.
    const alone = join(folder, 'alone');
    for (const name of ['dist', 'package.json'])
      cpSync(join(sdk, name), join(alone, 'node_modules/@portal-auth/sdk', name), { recursive: true });
    expect(typeOf('get', load, alone)).toMatch(/MODULE_NOT_FOUND$/);
    expect(typeOf('PortalAuth', load.replace('/passkeys', ''), alone)).toBe('function');
  });

  it('npm pack in a fresh checkout builds the code and packs it, and no sources', () => {
    const checkout = join(folder, 'checkout');
    const built = join(sdk, 'dist');
    for (const path of ['package.json', 'package-lock.json', 'scripts', 'sdk/typescript'])
      cpSync(join(root, path), join(checkout, path), { recursive: true, filter: (from) => from !== built });
    // The tools of the build, without its cache.
    mkdirSync(join(checkout, 'node_modules'));
    for (const name of readdirSync(join(root, 'node_modules')).filter((one) => !one.startsWith('.')))
      symlinkSync(join(root, 'node_modules', name), join(checkout, 'node_modules', name));

    const packed = execFileSync('npm', ['pack', '--dry-run', '--json'], {
      cwd: join(checkout, 'sdk/typescript'),
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ files }] = JSON.parse(packed.toString()) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const code = [
      'dist/index.js',
      'dist/index.d.ts',
      'dist/admin.js',
      'dist/operations.js',
      'dist/passkeys.js',
      'dist/cjs/index.js',
      'dist/cjs/passkeys.js',
      'dist/cjs/package.json',
    ];
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'package.json', ...code]));
    expect(paths.filter((path) => !/^((README|CHANGELOG)\.md|LICENSE|package\.json|dist\/)/.test(path))).toEqual([]);
  });
});
