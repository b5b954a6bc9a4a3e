#!/usr/bin/env node
// Compiles sdk/typescript. Does nothing if nothing has changed. `npm run openapi` generates its operations.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildWhenChanged, compilePackage } from './build-steps.mjs';

const sdk = fileURLToPath(new URL('../sdk/typescript/', import.meta.url));

await buildWhenChanged({
  name: 'sdk',
  inputs: [
    fileURLToPath(import.meta.url),
    ...['src', 'package.json', 'tsconfig.json', 'tsconfig.cjs.json'].map((name) => sdk + name),
  ],
  outputs: [`${sdk}dist/index.js`, `${sdk}dist/admin.js`, `${sdk}dist/cjs/index.js`],
  build: () => {
    compilePackage(sdk);
    for (const folder of [`${sdk}dist`, `${sdk}dist/cjs`]) importWebTypes(folder);
  },
});

/** Makes the declarations import the types of the web platform from web-types.d.ts, not from the library "dom". */
function importWebTypes(folder) {
  const names = [
    'AbortSignal',
    'Blob',
    'CryptoKey',
    'File',
    'FormData',
    'Headers',
    'Request',
    'RequestInit',
    'Response',
    'fetch',
  ];
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
