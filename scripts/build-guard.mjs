#!/usr/bin/env node
// Compiles guard/. Does nothing if nothing has changed.
import { fileURLToPath } from 'node:url';

import { buildWhenChanged, compilePackage } from './build-steps.mjs';

const guard = fileURLToPath(new URL('../guard/', import.meta.url));

await buildWhenChanged({
  name: 'guard',
  inputs: ['src', 'package.json', 'tsconfig.json', 'tsconfig.cjs.json'].map((name) => guard + name),
  outputs: [`${guard}dist/index.js`, `${guard}dist/cjs/index.js`, `${guard}dist/cjs/package.json`],
  build: () => compilePackage(guard),
});
