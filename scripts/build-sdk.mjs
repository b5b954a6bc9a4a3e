#!/usr/bin/env node
// Generates the operations of sdk/typescript from openapi.json and compiles it. Does nothing if nothing has changed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createClient } from '@hey-api/openapi-ts';

import { buildWhenChanged, compilePackage } from './build-steps.mjs';

const sdk = fileURLToPath(new URL('../sdk/typescript/', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

await buildWhenChanged({
  name: 'sdk',
  inputs: [
    `${root}openapi.json`,
    fileURLToPath(import.meta.url),
    ...['src', 'package.json', 'tsconfig.json', 'tsconfig.cjs.json'].map((name) => sdk + name),
  ],
  except: `${sdk}src/generated`,
  outputs: [`${sdk}dist/index.js`, `${sdk}dist/admin.js`, `${sdk}dist/cjs/index.js`, `${sdk}src/generated/index.ts`],
  build: async () => {
    await createClient({
      input: `${root}openapi.json`,
      output: { path: `${sdk}src/generated`, clean: true, module: { extension: '.js' } },
      plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
      logs: { level: 'silent', file: false },
    });
    compilePackage(sdk);
    for (const folder of [`${sdk}dist`, `${sdk}dist/cjs`]) importWebTypes(folder);
  },
});

/** Makes the declarations import the types of the web platform from web-types.d.ts, not from the library "dom". */
function importWebTypes(folder) {
  const names = ['AbortSignal', 'Blob', 'File', 'FormData', 'Headers', 'Request', 'RequestInit', 'Response', 'fetch'];
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.d.ts'));
  for (const file of files.filter((one) => !one.startsWith(`cjs${sep}`) && one !== 'web-types.d.ts')) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const code = text.replace(/\/\*[\s\S]*?\*\/|'[^']*'/g, '');
    const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(code));
    if (used.length === 0) continue;
    const from = `${'../'.repeat(relative(folder, path).split(sep).length - 1) || './'}web-types.js`;
    writeFileSync(path, `import type { ${used.join(', ')} } from '${from}';\n${text}`);
  }
}
