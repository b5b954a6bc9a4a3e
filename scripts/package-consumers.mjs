/** Projects that use a package as a stranger does. Each check returns its problems as lines. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

import ts from 'typescript';
import { build } from 'vite';

import { difference } from './package-checks.mjs';
import { npm, readJson, root } from './packages.mjs';

/**
 * An empty project in which npm has installed the tarball. Its peer dependencies are those of this repository, so that
 * the check needs no network for them.
 */
export function newProject(folder, { tarball, manifest, browser, type, peers }) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type }));
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball);
  if (peers) for (const name of Object.keys(manifest.peerDependencies ?? {})) link(folder, name);
  if (!browser) link(folder, '@types/node');
  return folder;
}

function link(folder, name) {
  for (const one of [name, `@types/${name}`]) {
    const target = join(root, 'node_modules', one);
    const place = join(folder, 'node_modules', one);
    if (!existsSync(target) || existsSync(place)) continue;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(target, place);
  }
}

const specifier = (manifest, entry) => manifest.name + entry.slice(1);

/** Loads the entries in Node. @returns the names that each of them exports */
export function checkLoading(project, { manifest, entries: all }, entries) {
  const type = typeOf(project);
  const names = entries.map((entry) => specifier(manifest, entry));
  const program = `(async () => {
    const found = {};
    for (const name of ${JSON.stringify(names)})
      found[name] = Object.keys(${type === 'module' ? 'await import(name)' : 'require(name)'});
    console.log(JSON.stringify(found));
  })();`;
  // Without the option, require() would load an ES module. Only a peer dependency may be one.
  const alone = entries.every((entry) => all[entry].needs === undefined);
  const strict = type === 'commonjs' && alone ? ['--no-experimental-require-module'] : [];
  const args = [...strict, `--input-type=${type}`, '-e', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  return status === 0 ? { found: [], exported: JSON.parse(stdout) } : { found: [stderr.trim()], exported: {} };
}

const nodeNext = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
const node16 = { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 };
const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
/** A bundler resolves in the same way in both kinds of projects. */
const resolutions = { module: { node16, nodeNext, bundler }, commonjs: { node16, nodeNext } };

/**
 * Loads the entries, and compiles a strict program that imports them. The declarations of the package must be free of
 * errors, and name the values that the code exports.
 */
export function checkEntries(project, one) {
  const type = typeOf(project);
  const { found, exported } = checkLoading(project, one, Object.keys(one.entries));
  for (const [resolution, options] of Object.entries(resolutions[type])) {
    // `module: node16` lets a CommonJS program import no ES modules, although Node can.
    const importable = ([, { modulesOnly }]) => !(modulesOnly && type === 'commonjs' && resolution === 'node16');
    const entries = Object.entries(one.entries).filter(importable);
    const { problems, declared } = compile(project, one, { entries: entries.map(([entry]) => entry), options });
    found.push(...problems.map((problem) => `${resolution}: ${problem}`));
    for (const [name, values] of declared) {
      const different = difference(withoutInterop(exported[name] ?? []), withoutInterop(values));
      found.push(...different.map((value) => `${resolution}: ${name}: ${value} is only in the code or in the types`));
    }
  }
  return { found };
}

const typeOf = (project) => readJson(join(project, 'package.json')).type;
const withoutInterop = (names) => names.filter((name) => !['default', 'module.exports', '__esModule'].includes(name));

/** Checks the program and the declarations of the package, but not those of its dependencies. */
function compile(project, { manifest }, { entries, options }) {
  const file = join(project, 'consumer.ts');
  const names = entries.map((entry) => specifier(manifest, entry));
  const imports = names.map((name, index) => `import * as entry${index} from '${name}';`);
  writeFileSync(file, `${imports.join('\n')}\nexport const all = [${names.map((_, index) => `entry${index}`)}];\n`);
  const types = existsSync(join(project, 'node_modules/@types/node')) ? ['node'] : [];
  const target = ts.ScriptTarget.ES2022;
  const program = ts.createProgram([file], { strict: true, noEmit: true, target, types, ...options });
  const own = program.getSourceFiles().filter(({ fileName }) => fileName === file || fileName.includes(manifest.name));
  const problems = [
    ...program.getOptionsDiagnostics(),
    ...own.flatMap((one) => [...program.getSyntacticDiagnostics(one), ...program.getSemanticDiagnostics(one)]),
  ].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));

  const checker = program.getTypeChecker();
  const valuesOf = ({ importClause }) =>
    checker
      .getTypeAtLocation(importClause.namedBindings.name)
      .getProperties()
      .map(({ name }) => name);
  const statements = program.getSourceFile(file).statements;
  return { problems, declared: new Map(names.map((name, index) => [name, valuesOf(statements[index])])) };
}

/** Builds a page that imports the entries. A warning is a problem, for example about a module that only Node has. */
export async function checkPage(project, { manifest }, entries) {
  const found = [];
  const report = (message) => found.push(message);
  const silent = { info: () => undefined, clearScreen: () => undefined, hasErrorLogged: () => false };
  const page = join(project, 'page');
  mkdirSync(page);
  const imports = entries.map((entry) => `() => import('${specifier(manifest, entry)}')`);
  writeFileSync(join(page, 'index.html'), '<!doctype html><script type="module" src="./main.ts"></script>');
  writeFileSync(join(page, 'main.ts'), `Object.assign(globalThis, { entries: [${imports.join(', ')}] });`);
  await build({
    root: page,
    configFile: false,
    logLevel: 'warn',
    customLogger: { ...silent, warn: report, warnOnce: report, error: report, hasWarned: false },
  }).catch((error) => report(error.message));
  return { found };
}
