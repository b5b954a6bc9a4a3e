#!/usr/bin/env node
// npm run sizing -- --users 250000 --peak-minutes 15: what an installation needs, computed from the newest run of the bench
// (docs/operations/sizing.md). `--write` renews the tables of the two pages, and `--check` compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { withTables } from './lib/markdown.mjs';
import { assumptions } from './lib/sizing.mjs';
import { scaleTables, sizingTables } from './lib/sizing-tables.mjs';
import { usage } from './lib/steady-state.mjs';

const root = resolve(import.meta.dirname, '..');
const defaults = { ...assumptions, ...usage };
const pages = [
  { file: 'docs/operations/sizing.md', users: [10_000, 100_000, 1_000_000], tables: sizingTables },
  { file: 'docs/operations/scale.md', users: [1_000_000, 10_000_000, 100_000_000], tables: scaleTables },
];

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function main() {
  const { values: options } = parseArgs({
    options: {
      users: { type: 'string' },
      results: { type: 'string', default: join(root, 'bench/results') },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      ...Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: 'string' }])),
    },
  });
  const own = Object.keys(defaults).filter((name) => options[name] !== undefined);
  const chosen = Object.fromEntries(own.map((name) => [name, number(name, options[name])]));
  const results = read(options.results);
  if (options.write || options.check) {
    const given = [...own, ...(options.users === undefined ? [] : ['users'])];
    if (given.length > 0) throw new Error(`--${given[0]} changes no page: leave it out with --write and --check`);
    for (const page of pages) update(page, results, options.check);
    return;
  }
  const users = options.users?.split(',').map((one) => number('users', one));
  for (const page of pages) print(page.tables(results, users ?? page.users, { ...defaults, ...chosen }));
  const all = Object.entries({ ...defaults, ...chosen }).map(([name, value]) => `--${name} ${value}`);
  console.log(`computed with ${all.join(' ')}`);
  console.log(`from the run of ${results.run.at} on ${results.run.machine.cores} processors`);
}

function read(folder) {
  const json = (name) => JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  return {
    run: json('latest'),
    database: json('database'),
    growth: json('growth'),
    applications: json('applications'),
    day: json('day'),
    years: json('years'),
  };
}

function number(name, text) {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) {
    throw new Error(`--${name} must be a number from 0, not "${text}"`);
  }
  if (['users', 'peak-minutes', 'access-minutes', 'usage', 'processors', 'log-days'].includes(name) && value === 0) {
    throw new Error(`--${name} must be more than 0`);
  }
  return value;
}

function update({ file, users, tables }, results, check) {
  const path = join(root, file);
  const page = readFileSync(path, 'utf8');
  const renewed = withTables(page, tables(results, users, defaults));
  if (renewed === page) return;
  if (check) throw new Error(`${file} does not match bench/results: run \`npm run sizing -- --write\``);
  writeFileSync(path, renewed);
}

function print(tables) {
  for (const [name, table] of Object.entries(tables)) console.log(`${name}\n\n${table}\n`);
}
