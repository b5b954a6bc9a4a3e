#!/usr/bin/env node
// node bench/year.mjs [--people N] [--sessions N] [--workers N] [--latency MS]: one year of an installation, under load. It counts the requests
// of each chapter and those that failed, and writes results/year.json and the table of docs/operations/a-year.md. Run `npm run build:server` first.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withTables } from './lib/markdown.mjs';
import { yearTable } from './lib/year-table.mjs';

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({
  options: { people: number(5000), sessions: number(20), workers: number(2), latency: number(50) },
});
const options = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const root = resolve(import.meta.dirname, '..');

// The year uses what the tests use: the former version, the servers, the runbooks.
const require = createRequire(import.meta.url);
require('../scripts/typescript-hook.cjs');
const { Year } = require('../test/support/year/year.ts');

const began = performance.now();
const chapters = await Year.pass(options, (line) => console.error(line));
const minutes = Math.round((performance.now() - began) / 60_000);
const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
const result = { at: new Date().toISOString(), machine, options, minutes, chapters };
writeFileSync(join(root, 'bench/results/year.json'), `${JSON.stringify(result, null, 2)}\n`);
const page = join(root, 'docs/operations/a-year.md');
writeFileSync(page, withTables(readFileSync(page, 'utf8'), { year: yearTable(chapters) }));
console.log(yearTable(chapters));
// nginx, databases and services have been stopped. A connection that is kept open would hold up the end.
process.exit(chapters.some(({ problem }) => problem !== undefined) ? 1 : 0);
