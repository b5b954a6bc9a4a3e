#!/usr/bin/env node
// node tools/sdk-operations.mjs: generates the operations of sdk/typescript from openapi.json (`npm run openapi` calls it).
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { installTools } from './install.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** @param {string} folder its content is replaced */
export async function generateOperations(folder = `${root}sdk/typescript/src/generated`) {
  installTools();
  const { createClient } = await import('@hey-api/openapi-ts');
  await createClient({
    input: `${root}openapi.json`,
    output: { path: folder, clean: true, module: { extension: '.js' } },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent', file: false },
  });
}

if (import.meta.url === pathToFileURL(argv[1]).href) await generateOperations(argv[2]);
