/** Projects that use a package as a stranger does. Each check returns its problems as lines. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';

import ts from 'typescript';
import { build } from 'vite';

import { difference } from './package-checks.mjs';
import { npm, root } from './packages.mjs';

/**
 * An empty project in which npm has installed the tarball. Its peer dependencies are those of this repository, so that
 * the check needs no network for them.
 */
export function newProject(folder, { tarball, manifest, type, peers }) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type }));
  npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', tarball);
  if (peers) for (const name of Object.keys(manifest.peerDependencies ?? {})) link(folder, name);
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

/** Loads the entries in Node, and compares what they export with what the declarations say. */
export function checkLoading(project, { manifest, entries: all }, entries) {
  const { type } = ts.readConfigFile(join(project, 'package.json'), ts.sys.readFile).config;
  const load = type === 'module' ? 'await import(name)' : 'require(name)';
  const names = entries.map((entry) => specifier(manifest, entry));
  const program = `(async () => {
    const found = {};
    for (const name of ${JSON.stringify(names)}) found[name] = Object.keys(${load});
    console.log(JSON.stringify(found));
  })();`;
  // Without the option, require() would load an ES module. Only a peer dependency may be one.
  const alone = entries.every((entry) => all[entry].needs === undefined);
  const strict = type === 'commonjs' && alone ? ['--no-experimental-require-module'] : [];
  const args = [...strict, `--input-type=${type}`, '-e', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' });
  if (status !== 0) return { found: [stderr.trim()] };
  const loaded = JSON.parse(stdout);
  const declared = valuesOf(project, names, { module: ts.ModuleKind.NodeNext });
  return {
    found: names.flatMap((name) =>
      difference(
        loaded[name].filter((one) => !['default', 'module.exports', '__esModule'].includes(one)),
        declared.get(name).filter((one) => one !== 'default'),
      ).map((one) => `${name}: ${one} is in the code or in the declarations only`),
    ),
  };
}

const resolutions = {
  node16: { module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
  nodenext: { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext },
  bundler: { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
};

/** Compiles a strict program that imports every entry, together with all declarations that it reaches. */
export function checkTypes(project, { manifest, entries }) {
  const names = Object.keys(entries).map((entry) => specifier(manifest, entry));
  return {
    found: Object.entries(resolutions).flatMap(([name, options]) =>
      ts
        .getPreEmitDiagnostics(programOf(project, names, options))
        .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
    ),
  };
}

function programOf(project, names, options) {
  const file = join(project, 'consumer.ts');
  const imports = names.map((name, index) => `import * as entry${index} from '${name}';`);
  writeFileSync(file, `${imports.join('\n')}\nexport const all = [${names.map((_, index) => `entry${index}`)}];\n`);
  const target = ts.ScriptTarget.ES2022;
  const types = existsSync(join(project, 'node_modules/@types/node')) ? ['node'] : [];
  return ts.createProgram([file], { strict: true, noEmit: true, skipDefaultLibCheck: true, target, types, ...options });
}

/** The names of the values that each module exports, as the compiler sees them. */
function valuesOf(project, names, options) {
  const program = programOf(project, names, options);
  const checker = program.getTypeChecker();
  const imports = program.getSourceFile(join(project, 'consumer.ts')).statements.slice(0, names.length);
  return new Map(
    imports.map(({ importClause }, index) => [
      names[index],
      checker
        .getTypeAtLocation(importClause.namedBindings.name)
        .getProperties()
        .map(({ name }) => name),
    ]),
  );
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
