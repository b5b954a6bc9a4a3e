#!/usr/bin/env node
// node scripts/second-client.mjs FOLDER: a client of another generator and another style (one class, methods grouped by
// tag) from the same document. Nobody uses it: it shows that the document is not fitted to one generator.
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

import { generateApi } from 'swagger-typescript-api';

await generateApi({
  input: fileURLToPath(new URL('../openapi.json', import.meta.url)),
  output: argv[2],
  fileName: 'client.ts',
  httpClientType: 'fetch',
  extractEnums: false,
  generateUnionEnums: true,
  unwrapResponseData: false,
  silent: true,
});
