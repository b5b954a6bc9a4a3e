#!/usr/bin/env node
// Installs the packages of examples/next-page and builds it. It has a lock file of its own, and is no part of
// `build:examples`: only its test needs the 300 MB. Does nothing if nothing has changed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildWhenChanged } from './build-steps.mjs';
import { npm, root } from './packages.mjs';

const folder = join(root, 'examples/next-page');
const made = ['dist', 'node_modules', 'next-env.d.ts'];
process.env.NEXT_TELEMETRY_DISABLED = '1';

await buildWhenChanged({
  name: 'next-page-packages',
  inputs: [join(folder, 'package-lock.json')],
  outputs: [join(folder, 'node_modules/next/package.json')],
  build: () => npm(folder, 'ci', '--ignore-scripts'),
});
await buildWhenChanged({
  name: 'next-page',
  inputs: [
    fileURLToPath(import.meta.url),
    ...readdirSync(folder)
      .filter((name) => !made.includes(name))
      .map((name) => join(folder, name)),
  ],
  outputs: [join(folder, 'dist/BUILD_ID')],
  build: () => npm(folder, 'run', '--silent', 'build'),
});
