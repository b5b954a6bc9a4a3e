import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const { satisfies } = createRequire(__filename)('semver') as { satisfies(version: string, range: string): boolean };
const root = resolve(__dirname, '../..');
const manifest = (folder: string) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;
const published = ['sdk/typescript', 'guard'];
const folderOf = new Map(published.map((folder) => [manifest(folder).name, folder]));
/** The folder of a package that a stranger installs. */
const installed = (name: string): string => folderOf.get(name) ?? `node_modules/${name}`;

describe('the packages that are published', () => {
  it('have the version of the service', () => {
    const versions = published.map((folder) => manifest(folder).version);
    expect(new Set(versions)).toEqual(new Set([manifest('.').version]));
  });

  it.each(published)('%s lets a tool read its manifest', (folder) => {
    const { exports } = manifest(folder) as unknown as { exports: Record<string, unknown> };
    expect(exports['./package.json']).toBe('./package.json');
  });

  it.each(published)(
    'the README of %s installs the file of npm pack, and warns of the name that nobody owns',
    (folder) => {
      const { name, version } = manifest(folder);
      const text = readFileSync(join(root, folder, 'README.md'), 'utf8');
      const commands = [...text.matchAll(/^```sh\n([^]+?)^```/gm)].map(([, block]) => String(block));
      expect(commands[0]).toContain(`cd ${folder} && npm pack`);
      expect(commands[0]).toContain(`/${name.slice(1).replace('/', '-')}-${version}.tgz`);
      expect(commands.filter((block) => block.includes(name))).toEqual([]);
      expect(text).toContain(`**Do not run \`npm install ${name}\` before the package is published.**`);
    },
  );

  const examples = readdirSync(join(root, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
    .map(({ name }) => name)
    // Other languages have no manifest. An example with a lock file has packages of its own.
    .filter((name) => existsSync(join(root, 'examples', name, 'package.json')))
    .filter((name) => !existsSync(join(root, 'examples', name, 'package-lock.json')));

  it.each(examples)('examples/%s asks for the versions that the tests use', (name) => {
    const { dependencies, devDependencies } = manifest(`examples/${name}`);
    const ranges = Object.entries({ ...dependencies, ...devDependencies });
    const others = ranges.filter(([one, range]) => !satisfies(manifest(installed(one)).version, range));
    expect(others).toEqual([]);
    expect(ranges.some(([one]) => folderOf.has(one))).toBe(true);
  });
});

describe('the examples in the READMEs of the packages', () => {
  // A compiler takes long on a busy machine.
  jest.setTimeout(180_000);
  const sources = published.flatMap((folder) => {
    const text = readFileSync(join(root, folder, 'README.md'), 'utf8');
    const blocks = [...text.matchAll(/^```(tsx?)\n([^]+?)^```/gm)];
    return blocks.map(([, ending, code], i) => ({ name: `${folder.replace('/', '-')}-${i}.${ending}`, code: code! }));
  });
  let project: string;

  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), 'readme-'));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    for (const { name, code } of sources) writeFileSync(join(project, name), code);
    const imported = sources.flatMap(({ code }) =>
      [...code.matchAll(/(?:from|import) '((?:@[\w.-]+\/)?[\w.-]+)/g)].map(([, name]) => String(name)),
    );
    const types = imported.map((name) => `@types/${name}`).filter((name) => existsSync(join(root, installed(name))));
    for (const name of new Set([...imported, ...types, '@types/node'])) {
      const place = join(project, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, installed(name)), place);
    }
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  it('are there for each package', () => {
    for (const folder of published)
      expect(sources.filter(({ name }) => name.startsWith(folder.replace('/', '-')))).not.toEqual([]);
  });

  it('the example with React renders on a server', () => {
    for (const name of ['react', 'react-dom']) {
      const place = join(project, 'node_modules', name);
      if (!existsSync(place)) symlinkSync(join(root, 'node_modules', name), place);
    }
    const { code } = sources.find((source) => source.code.includes('useSyncExternalStore'))!;
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, jsx: ts.JsxEmit.ReactJSX };
    writeFileSync(join(project, 'page.mjs'), ts.transpileModule(code, { compilerOptions }).outputText);
    const program = `
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server';
      import { auth, SignOut } from './page.mjs';
      console.log(JSON.stringify([renderToString(createElement(SignOut)), auth.snapshot.step.kind]));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project });
    expect(JSON.parse(output.toString())).toEqual(['', 'signed-out']);
  });

  it.each([
    ['Node', { module: ts.ModuleKind.NodeNext }],
    ['a bundler', { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }],
  ])('compile for %s', (_case, kind) => {
    const files = sources.map(({ name }) => join(project, name));
    const program = ts.createProgram(files, {
      ...{ strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, types: ['node'] },
      ...{ jsx: ts.JsxEmit.ReactJSX, experimentalDecorators: true },
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
      ...kind,
    });
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
      file: file?.fileName.slice(project.length + 1),
      text: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
    expect(problems).toEqual([]);
  });
});
