import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const sdk = resolve(__dirname, '..');

/** These tests use the package as a consumer does: by its name, through its `exports`. */
describe('the package', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'consumer-'));
    mkdirSync(join(folder, 'node_modules/@portal-auth'), { recursive: true });
    symlinkSync(sdk, join(folder, 'node_modules/@portal-auth/sdk'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['Node', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['a bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ])('the example in the README compiles for %s', (_case, module, moduleResolution) => {
    const example = /```ts\n([\s\S]+?)```/.exec(readFileSync(join(sdk, 'README.md'), 'utf8'))![1]!;
    const file = join(folder, 'example.ts');
    writeFileSync(file, example);
    const lib = ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'];
    const options = {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module,
      moduleResolution,
      lib,
      types: [],
    };
    const problems = ts.getPreEmitDiagnostics(ts.createProgram([file], options));
    expect(problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
  });

  it('both entry points load in Node', () => {
    const program = `
      import { clientRules, PortalAuth } from '@portal-auth/sdk';
      import { login } from '@portal-auth/sdk/operations';
      const auth = new PortalAuth({ baseUrl: 'http://127.0.0.1:9' });
      console.log(JSON.stringify([clientRules.resendSeconds, auth.snapshot.step.kind, typeof login]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: folder });
    expect(JSON.parse(output.toString())).toEqual([60, 'signed-out', 'function']);
  });

  it('the packed package contains the build, and no sources', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: sdk });
    const [{ files }] = JSON.parse(packed.toString()) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['README.md', 'package.json', 'dist/index.js', 'dist/index.d.ts']));
    expect(paths.filter((path) => !/^(README\.md|package\.json|dist\/)/.test(path))).toEqual([]);
  });
});
