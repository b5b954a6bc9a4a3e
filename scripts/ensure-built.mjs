import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stamp = join(root, 'dist/.built');
const inputs = [
  'src',
  'migrations',
  'packages',
  'portal/src',
  'portal/index.html',
  'portal/vite.config.ts',
  'sdk/typescript/src',
  'openapi.json',
  'package.json',
  'scripts/bundle.mjs',
  'scripts/runtime-files.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
];

/** Runs `npm run build` when a source is newer than the last build. The output goes to standard error. */
export function ensureBuilt() {
  if (existsSync(stamp) && newest(inputs.map((path) => join(root, path))) <= Date.parse(readFileSync(stamp, 'utf8')))
    return;
  process.stderr.write('Building …\n');
  const started = new Date();
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, started.toISOString());
}

/** The time of the latest change below the given paths. */
function newest(paths) {
  return Math.max(
    ...paths.map((path) => {
      const stat = statSync(path);
      if (!stat.isDirectory()) return stat.mtimeMs;
      // The build itself writes these folders.
      const names = readdirSync(path).filter((name) => name !== 'generated');
      return newest(names.map((name) => join(path, name)));
    }),
  );
}
