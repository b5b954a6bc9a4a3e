#!/usr/bin/env node
// Builds the web pages to portal/dist, after the SDK. Does nothing if nothing has changed.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { build } from 'vite';

import './build-sdk.mjs';
import { buildWhenChanged, compile } from './build-steps.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const portal = `${root}portal/`;

await buildWhenChanged({
  name: 'portal',
  inputs: [
    ...['src', 'public', 'index.html', 'vite.config.ts', 'tsconfig.json'].map((name) => portal + name),
    `${root}sdk/typescript/dist`,
  ],
  outputs: [`${portal}dist/index.html`],
  build: async () => {
    compile(`${portal}tsconfig.json`, '--noEmit');
    await build({ root: portal, configFile: `${portal}vite.config.ts`, logLevel: 'warn' });
    compress(`${portal}dist/assets`);
  },
});

/** The service sends `name.br` or `name.gz` in place of `name` to a browser that accepts it. */
function compress(folder) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const content = readFileSync(file);
    writeFileSync(`${file}.br`, brotliCompressSync(content));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}
