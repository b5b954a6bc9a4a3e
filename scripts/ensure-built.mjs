import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildWhenChanged } from './build-steps.mjs';

export const root = fileURLToPath(new URL('..', import.meta.url));
const inRoot = (...names) => names.map((name) => join(root, name));

/** Runs `npm run build` when a source has changed since the last build. The output goes to standard error. */
export function ensureBuilt() {
  return buildWhenChanged({
    name: 'program',
    inputs: inRoot(
      ...['src', 'migrations', 'packages', 'openapi.json', 'package.json', 'tsconfig.json', 'tsconfig.build.json'],
      ...[
        'scripts/bundle.mjs',
        'scripts/code-cache.mjs',
        'scripts/record-code.cjs',
        'scripts/module-functions.mjs',
        'scripts/runtime-files.mjs',
      ],
      ...['portal/src', 'portal/public', 'portal/index.html', 'portal/vite.config.ts', 'sdk/typescript/src'],
    ),
    outputs: inRoot('dist/src/demo.js', 'dist/src/cli.js', 'portal/dist/index.html'),
    build: () => {
      process.stderr.write('Building …\n');
      const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] });
      if (status !== 0) process.exit(status ?? 1);
    },
  });
}
