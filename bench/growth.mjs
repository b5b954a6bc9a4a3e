#!/usr/bin/env node
// node bench/growth.mjs [rows]: the bytes that one row of each table takes, with its entry in each index, and how fast
// `purge` deletes (docs/operations/scale.md). It fills the tables of a private MariaDB with rows of realistic width.
// Run `npm run build:server` first.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { serviceSettings } from './lib/contestants.mjs';
import { fills, widths } from './lib/filled-tables.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const count = Number(process.argv[2] ?? 200_000);
const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');

const directory = mkdtempSync(join(tmpdir(), 'bench-growth-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'), '1G');
try {
  await db.run('CREATE DATABASE growth CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
  await cli('migrate');
  const tables = {};
  for (const { name, table, sql } of fills) {
    await db.run(`TRUNCATE TABLE ${table}`, [], 'growth');
    await db.run(sql(count), [], 'growth');
    tables[name] = { table, indexes: await bytesOfIndexes(table) };
    console.log(`${name}: ${figure(Object.values(tables[name].indexes).reduce((a, b) => a + b))} bytes a row`);
  }
  const purge = await timedPurge();
  const copy = await timedPartitioning();
  const [{ version }] = await db.run('SELECT VERSION() AS version');
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const result = { at: new Date().toISOString(), database: version, machine, rows: count, widths, tables, purge, copy };
  writeFileSync(join(root, 'bench/results/growth.json'), `${JSON.stringify(result, null, 2)}\n`);
  const lines = Object.entries(tables).flatMap(([name, { indexes }]) =>
    Object.entries(indexes).map(([index, size]) => [name, index, figure(size)]),
  );
  console.log(markdownTable(['table', 'index', 'bytes a row'], lines));
  console.log({ purge, copy });
} finally {
  await db.child.stop();
}

/** Whole pages that each index has reserved, divided by the rows. PRIMARY is the table itself. */
async function bytesOfIndexes(table) {
  await db.run(`ANALYZE TABLE ${table}`, [], 'growth');
  const sizes = await db.run(
    `SELECT index_name AS name, stat_value * @@innodb_page_size AS size FROM mysql.innodb_index_stats
     WHERE database_name = 'growth' AND table_name = ? AND stat_name = 'size'`,
    [table],
  );
  return Object.fromEntries(sizes.map(({ name, size }) => [name, Number(size) / count]));
}

/** Deletes access tokens, all of which have expired. */
async function timedPurge() {
  for (const { table } of fills) await db.run(`TRUNCATE TABLE ${table}`, [], 'growth');
  await db.run(fills.find(({ name }) => name === 'login_tokens (access)').sql(count), [], 'growth');
  const begun = performance.now();
  await cli('purge');
  const seconds = (performance.now() - begun) / 1000;
  const [{ left }] = await db.run('SELECT COUNT(*) AS `left` FROM login_tokens', [], 'growth');
  return { rows: count - Number(left), seconds, rowsPerSecond: (count - Number(left)) / seconds };
}

/** Divides a filled `login_logs` into partitions in place, which blocks its inserts until it has ended. */
async function timedPartitioning() {
  await db.run('TRUNCATE TABLE login_logs', [], 'growth');
  await db.run(fills.find(({ name }) => name === 'login_logs').sql(count), [], 'growth');
  const begun = performance.now();
  await db.run(
    `ALTER TABLE login_logs PARTITION BY RANGE (id) (
       PARTITION p0 VALUES LESS THAN (${count / 2}), PARTITION pmax VALUES LESS THAN MAXVALUE)`,
    [],
    'growth',
  );
  return { rows: count, seconds: (performance.now() - begun) / 1000 };
}

async function cli(...args) {
  const data = join(directory, 'data');
  mkdirSync(data, { recursive: true });
  await run(process.execPath, [join(root, 'dist/src/cli.js'), ...args], {
    cwd: directory,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'development',
      ...serviceSettings,
      DATABASE_URL: db.urlOf('growth'),
      DATA_DIR: data,
    },
  });
}
