#!/usr/bin/env node
// node tools/second-client.mjs FOLDER: generates clients of openapi.json with other generators than that of the SDK,
// each in another style. A test uses them to show that the document does not depend on one generator.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, chdir, exit } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { installTools } from './install.mjs';

installTools();
const { safeBuild } = await import('@kubb/core');
const { pluginClient } = await import('@kubb/plugin-client');
const { pluginOas } = await import('@kubb/plugin-oas');
const { pluginTs } = await import('@kubb/plugin-ts');
const { default: openapiTypescript, astToString } = await import('openapi-typescript');
const { generateApi } = await import('swagger-typescript-api');

const input = fileURLToPath(new URL('../openapi.json', import.meta.url));
const [, , folder] = argv;

// One class, whose methods are grouped by tag: client.ts.
await generateApi({
  input,
  output: folder,
  fileName: 'client.ts',
  httpClientType: 'fetch',
  extractEnums: false,
  generateUnionEnums: true,
  unwrapResponseData: false,
  silent: true,
});

// Types of the paths and operations, for a client that is generic: paths.ts. Without the option, a request field that has
// a default would be required.
const types = await openapiTypescript(pathToFileURL(input), { defaultNonNullable: false });
await writeFile(join(folder, 'paths.ts'), astToString(types));

// A function for each operation: kubb/functions.ts and kubb/types.ts. Kubb writes them to `root` and to the working
// directory.
chdir(folder);
const { error, failedPlugins } = await safeBuild({
  config: {
    root: folder,
    input: { path: input },
    output: { path: 'kubb', clean: true, format: false, lint: false, extension: { '.ts': '' } },
    plugins: [
      // Redocly checks the document, with stricter rules.
      pluginOas({ validate: false, generators: [] }),
      pluginTs({ output: { path: 'types.ts', barrelType: false }, enumType: 'literal' }),
      pluginClient({ output: { path: 'functions.ts', barrelType: false }, client: 'fetch', bundle: true }),
    ],
  },
});
for (const problem of [error, ...failedPlugins].filter(Boolean)) console.error(problem);
// Kubb leaves handles open that would keep the process alive.
exit(error === undefined && failedPlugins.size === 0 ? 0 : 1);
