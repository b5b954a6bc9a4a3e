import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * The packages of this repository that are published.
 *
 * `entries` has every sub-path of `exports`. `budget` limits the bytes of the minified code in gzip, without its
 * dependencies: a little above the present size. `needs` names the optional peer dependencies that the entry loads;
 * with `modulesOnly` one of them has no CommonJS code.
 * `browser` packages are also bundled for a page.
 */
export const packages = [
  {
    folder: 'sdk/typescript',
    browser: true,
    entries: {
      '.': { budget: 15_200 },
      './admin': { budget: 6_300 },
      './operations': { budget: 6_200 },
      './passkeys': { budget: 750, needs: ['@simplewebauthn/browser'] },
    },
  },
  {
    folder: 'guard',
    browser: false,
    entries: {
      '.': { budget: 6_600 },
      './express': { budget: 1_600 },
      './fastify': { budget: 1_600 },
      // Nest 12 has only ES modules.
      './nest': { budget: 2_000, needs: ['@nestjs/common'], modulesOnly: true },
    },
  },
];

export const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));

export const manifestOf = ({ folder }) => readJson(join(root, folder, 'package.json'));

/** The entries of the package, without its manifest. */
export const exportsOf = ({ exports }) => Object.keys(exports).filter((entry) => entry !== './package.json');

/** Runs `npm pack`, which builds the package first. @returns the tarball and the paths that it contains */
export function pack({ folder }, into) {
  const [packed] = JSON.parse(npm(join(root, folder), 'pack', '--json', '--pack-destination', into));
  return { tarball: join(into, packed.filename), files: packed.files.map(({ path }) => path) };
}

/** @returns the standard output of npm @throws Error with its messages when npm fails */
export function npm(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`);
  return stdout;
}
