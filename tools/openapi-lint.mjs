#!/usr/bin/env node
// npm run openapi:lint: checks openapi.json with all rules of Redocly, also those that a later version adds. It uses
// Redocly's library, because its command line sends telemetry and needs the network.
import { readFileSync } from 'node:fs';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';

import { installTools } from './install.mjs';

installTools();
const { createConfig, lintFromString } = await import('@redocly/openapi-core');

const rules = {
  'request-mime-type': {
    severity: 'error',
    allowedValues: ['application/json', 'application/x-www-form-urlencoded', 'text/csv'],
  },
  'response-mime-type': {
    severity: 'error',
    allowedValues: ['application/json', 'application/x-ndjson', 'text/csv', 'image/png'],
  },
  'response-contains-header': { severity: 'error', names: { 429: ['Retry-After'], 503: ['Retry-After'] } },

  // Paths and parameters are promises, and some of them are verbs or singular (docs/spec/service.md).
  'path-segment-plural': 'off',
  'boolean-parameter-prefixes': 'off',
  // Finds the verbs in /forget-password (get) and /passkeys/options (options).
  'no-http-verbs-in-paths': 'off',
  // Errors have the envelope of docs/spec/service.md#7, which is not that of RFC 9457.
  'operation-4xx-problem-details-rfc7807': 'off',
  // A summary that says everything needs no description that repeats it.
  'operation-description': 'off',
  // Each operation has recorded requests and answers, which say more than an example of a single field.
  'scalar-property-missing-example': 'off',
  // A token or a text that is never empty gains nothing by a declared length. A longest length would be a new promise.
  'required-string-property-missing-min-length': 'off',
  // Tags are in the order in which a reader needs them.
  'tags-alphabetical': 'off',
};

const file = argv[2] ?? fileURLToPath(new URL('../openapi.json', import.meta.url));
const config = await createConfig({ extends: ['all'], rules });
const problems = await lintFromString({ source: readFileSync(file, 'utf8'), absoluteRef: file, config });
for (const { ruleId, message, location } of problems) {
  console.log(`${location[0]?.pointer ?? ''}\n  ${ruleId}: ${message}`);
}
console.log(problems.length === 0 ? 'openapi.json: no problems' : `openapi.json: ${problems.length} problems`);
exit(problems.length === 0 ? 0 : 1);
