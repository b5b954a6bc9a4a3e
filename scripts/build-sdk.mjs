#!/usr/bin/env node
// Generates the operations of sdk/typescript from openapi.json and compiles it. Does nothing if nothing has changed.
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { createClient } from '@hey-api/openapi-ts';

import { buildWhenChanged, compile } from './build-steps.mjs';

const sdk = fileURLToPath(new URL('../sdk/typescript/', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

await buildWhenChanged({
  name: 'sdk',
  inputs: [`${root}openapi.json`, `${sdk}src`, `${sdk}package.json`, `${sdk}tsconfig.json`],
  except: `${sdk}src/generated`,
  outputs: [`${sdk}dist/index.js`, `${sdk}src/generated/index.ts`],
  build: async () => {
    await createClient({
      input: `${root}openapi.json`,
      output: { path: `${sdk}src/generated`, clean: true, module: { extension: '.js' } },
      plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
      logs: { level: 'silent', file: false },
    });
    rmSync(`${sdk}dist`, { recursive: true, force: true });
    compile(`${sdk}tsconfig.json`);
  },
});
