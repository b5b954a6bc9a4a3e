#!/usr/bin/env node
// npm run openapi:lint: checks openapi.json with the strict rules of Redocly. It uses Redocly's library, because its
// command line sends telemetry and needs the network.
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

import { createConfig, lintFromString } from '@redocly/openapi-core';

const file = argv[2] ?? fileURLToPath(new URL('../openapi.json', import.meta.url));
const config = await createConfig({ extends: ['recommended-strict'] });
const problems = await lintFromString({ source: readFileSync(file, 'utf8'), absoluteRef: file, config });
for (const { ruleId, message, location } of problems) {
  console.log(`${location[0]?.pointer ?? ''}\n  ${ruleId}: ${message}`);
}
console.log(problems.length === 0 ? 'openapi.json: no problems' : `openapi.json: ${problems.length} problems`);
exit(problems.length === 0 ? 0 : 1);
