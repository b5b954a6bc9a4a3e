import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const guard = resolve(__dirname, '..');
const root = resolve(guard, '..');

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** These tests use the package as a consumer does: by its name, through its `exports`. */
describe('the package @portal-auth/guard', () => {
  // A compiler runs in one of these tests, which takes long on a busy machine.
  jest.setTimeout(120_000);
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'consumer-'));
    mkdirSync(join(folder, 'node_modules/@portal-auth'), { recursive: true });
    symlinkSync(guard, join(folder, 'node_modules/@portal-auth/guard'));
    for (const name of ['@nestjs', '@types', 'express', 'fastify', 'reflect-metadata', 'rxjs']) {
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('the examples in the README compile in strict TypeScript, and wrong claims do not', () => {
    const examples = [...readFileSync(join(guard, 'README.md'), 'utf8').matchAll(/```ts\n([\s\S]+?)```/g)];
    expect(examples).toHaveLength(4);
    const wrong = `
      import { authOf } from '@portal-auth/guard';
      const auth = authOf({});
      const known: boolean = auth.verified_by === 'introspection' ? auth.is_admin : false;
      const unknown: boolean = auth.is_admin;
      export { known, unknown };`;
    const files = [...examples.map(([, text]) => text!), wrong].map((text, n) => {
      writeFileSync(join(folder, `example-${n}.ts`), text);
      return join(folder, `example-${n}.ts`);
    });
    const options: ts.CompilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      experimentalDecorators: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      types: ['node'],
      typeRoots: [join(folder, 'node_modules/@types')],
    };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram(files, options));
    const texts = problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').split('\n')[0]);
    expect(texts).toEqual(["Type 'boolean | undefined' is not assignable to type 'boolean'."]);
  });

  it.each([
    ['ES modules', '--input-type=module', (name: string) => `await import('${name}')`],
    ['CommonJS', '--input-type=commonjs', (name: string) => `require('${name}')`],
  ])('its entries load in Node as %s, and all but /nest without a framework', (_kind, option, load) => {
    const alone = mkdtempSync(join(tmpdir(), 'alone-'));
    try {
      // The package with its dependency, and no framework beside it.
      const modules = join(alone, 'node_modules');
      mkdirSync(join(modules, '@portal-auth/guard'), { recursive: true });
      execFileSync('cp', ['-R', join(guard, 'dist'), join(guard, 'package.json'), join(modules, '@portal-auth/guard')]);
      symlinkSync(join(root, 'node_modules/jose'), join(modules, 'jose'));
      const kindsOf = (names: string[], cwd: string) => {
        const code = names.map((name) => `Object.keys(${load(`@portal-auth/guard${name}`)})`).join(', ');
        const output = execFileSync(process.execPath, [option, '-e', `console.log(JSON.stringify([${code}]))`], {
          cwd,
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        return (JSON.parse(output.toString()) as string[][]).map((keys) =>
          keys.filter((key) => key !== '__esModule').sort(),
        );
      };
      const plain = [['authOf', 'authenticate', 'verifier'], ['requireAccessToken'], ['requireAccessToken']];
      expect(kindsOf(['', '/express', '/fastify'], alone)).toEqual(plain);
      expect(kindsOf(['/nest'], folder)).toEqual([['AccessTokenGuard', 'Auth', 'Public']]);
      expect(() => kindsOf(['/nest'], alone)).toThrow(/@nestjs\/common/);
    } finally {
      rmSync(alone, { recursive: true, force: true });
    }
  });

  it('has the version of the service, and is tested with the jose that it asks for', () => {
    const [own, service] = [manifestOf(guard), manifestOf(root)];
    expect(own.version).toBe(service.version);
    expect(own.dependencies).toEqual({ jose: service.devDependencies.jose });
  });

  it('npm pack takes the code, the types and the texts, and no sources', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: guard,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ files }] = JSON.parse(packed.toString()) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const code = ['index', 'express', 'fastify', 'nest'].flatMap((name) => [
      ...[`dist/${name}.js`, `dist/${name}.d.ts`],
      ...[`dist/cjs/${name}.js`, `dist/cjs/${name}.d.ts`],
    ]);
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'package.json', ...code]));
    expect(paths.filter((path) => !/^(\w+\.md|LICENSE|package\.json|dist\/)/.test(path))).toEqual([]);
  });
});
