#!/usr/bin/env node
// npm run fuzz [-- --seed 7 --requests 1000000]: sends hostile requests to the built program and judges the answers. Four in
// ten requests are made from openapi.json, six are valid ones whose bytes are changed.
import { randomInt } from 'node:crypto';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { ensureBuilt, root } from './ensure-built.mjs';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, requests: { type: 'string', default: '1000000' } },
});
const seed = wholeNumber('seed', values.seed ?? `${randomInt(1_000_000)}`);
const requests = wholeNumber('requests', values.requests);
console.log(`seed ${seed}, ${requests} requests`);

process.chdir(root);
await ensureBuilt();
const require = createRequire(import.meta.url);
require('./typescript-hook.cjs');
const { HttpFuzz } = require('../test/support/fuzz/http-fuzz.ts');

const fromGrammar = Math.round(0.4 * requests);
const step = 10_000;
let told = 0;
const report = await HttpFuzz.run({ seed, fromGrammar, fromBytes: requests - fromGrammar }, (sent) => {
  if (sent - told < step) return;
  told = sent - (sent % step);
  console.log(`${told} requests`);
});

const { findings, errors, ended, ...figures } = report;
console.log(JSON.stringify(figures, null, 2));
for (const { what, sent } of findings) console.log(`\n${what}\n${sent}`);
for (const line of errors) console.log(`\nlogged: ${line}`);
if (ended) console.log('\nthe program has ended');
const failed = findings.length > 0 || errors.length > 0 || ended;
console.log(failed ? `\nfailed with seed ${seed}` : '\nevery answer is as declared');
process.exitCode = failed ? 1 : 0;

function wholeNumber(name, text) {
  if (/^[1-9]\d{0,8}$|^0$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number`);
  process.exit(2);
}
