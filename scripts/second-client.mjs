#!/usr/bin/env node
// node scripts/second-client.mjs FOLDER: generates a client of openapi.json with another generator and in another style
// (one class, methods grouped by tag). A test uses it to show that the document does not depend on one generator.
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
