import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const stamps = join(root, 'node_modules/.cache/built');

/**
 * Runs `build` unless the inputs are unchanged since its last success and its outputs exist. It compares the content of
 * the inputs, because a git checkout changes the times of files.
 */
export async function buildWhenChanged({ name, inputs, outputs, build }) {
  const stamp = join(stamps, name);
  const before = digest(inputs);
  if (outputs.every((file) => existsSync(file)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === before) return;
  await build();
  mkdirSync(stamps, { recursive: true });
  writeFileSync(stamp, digest(inputs));
}

/** Includes package-lock.json and Node, because other versions of the build tools and of V8 can give another output. */
function digest(inputs) {
  const hash = createHash('sha256').update(`${process.version} ${process.arch}\0`);
  for (const file of [join(root, 'package-lock.json'), ...inputs].flatMap(filesOf)) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function filesOf(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesOf(join(path, name)));
}

/** @throws Error when the compiler finds a problem; the compiler prints it */
export function compile(project, ...options) {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', project, ...options], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error(`${project} does not compile, see the output of tsc above`);
}

/** Compiles a package to ES modules in `dist` and to CommonJS in `dist/cjs`. */
export function compilePackage(folder) {
  rmSync(join(folder, 'dist'), { recursive: true, force: true });
  compile(join(folder, 'tsconfig.json'));
  compile(join(folder, 'tsconfig.cjs.json'));
  writeFileSync(join(folder, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
}
