#!/usr/bin/env node
// node bench/database.mjs: what one login, one refresh and one token check cost the database. It counts statements, commits,
// flushes, bytes of the logs and new rows while one client uses the service, and while 32 clients do. Requests of one moment
// share statements and commits, so 32 clients cost less for each. Run `npm run build:server` first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { processorMs } from './lib/children.mjs';
import { service } from './lib/contestants.mjs';
import { startLoad } from './lib/load.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const seconds = Number(process.argv[2] ?? 6);
const users = 500;

const directory = mkdtempSync(join(tmpdir(), 'bench-database-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

// As durable as a primary with replicas: a commit is in both logs on the disk before it is answered.
const db = await startMariaDb(join(directory, 'db'), '512M', [
  `--log-bin=${join(directory, 'binlog')}`,
  '--sync-binlog=1',
  '--binlog-format=ROW',
]);
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const one = service({ db, directory: join(directory, 'service') });
const load = startLoad(directory);
try {
  await one.seed(users);
  await one.start();
  await one.prepare(users, 32);
  await one.prepareManyTokens();
  const costs = {};
  for (const [name, clients] of Object.entries({ alone: 1, together: 32 })) {
    costs[name] = {
      login: await cost(load.detailed, one.logins, clients),
      refresh: await cost(load.closed, one.requests.refresh, clients),
      check: await cost(load.closed, one.requests.meMany, clients),
    };
  }
  const [{ version }] = await db.run('SELECT VERSION() AS version');
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const settings = { seconds, users, binlog: true };
  const result = { at: new Date().toISOString(), database: version, machine, settings, costs };
  writeFileSync(resolve(import.meta.dirname, 'results/database.json'), `${JSON.stringify(result, null, 2)}\n`);
  const fields = ['statements', 'commits', 'flushes', 'logBytes', 'cpuMs'];
  for (const [name, kinds] of Object.entries(costs)) {
    const rows = Object.entries(kinds).map(([kind, all]) => [kind, ...fields.map((field) => figure(all[field]))]);
    console.log(`${name}\n${markdownTable(['one', ...fields], rows)}`);
  }
  for (const [kind, { rows }] of Object.entries(costs.alone)) console.log(`new rows of one ${kind}:`, rows);
} finally {
  load.stop();
  await one.stop('SIGKILL');
  await db.child.stop();
}

/** Asks for some seconds, and divides what the database did by the number of answers. */
async function cost(ask, requests, concurrency) {
  const lane = [{ requests, concurrency }];
  await ask(one.port, 2, lane);
  const before = await state();
  const [{ count }] = await ask(one.port, seconds, lane);
  const after = await state();
  const each = (field) => (after[field] - before[field]) / count;
  const rows = Object.keys(after.rows).map((table) => [table, (after.rows[table] - before.rows[table]) / count]);
  return {
    answers: count,
    statements: each('statements'),
    commits: each('commits'),
    flushes: each('flushes'),
    logBytes: each('logBytes'),
    cpuMs: each('cpuMs'),
    rows: Object.fromEntries(rows.filter(([, added]) => added > 0.01)),
  };
}

async function state() {
  const status = Object.fromEntries(
    (await db.run('SHOW GLOBAL STATUS')).map(({ Variable_name: name, Value: value }) => [name, Number(value)]),
  );
  const logs = await db.run('SHOW BINARY LOGS');
  const tables = (await db.run('SHOW TABLES', [], 'service')).map((row) => Object.values(row)[0]);
  const rows = {};
  for (const table of tables) {
    rows[table] = Number((await db.run(`SELECT COUNT(*) AS n FROM ${table}`, [], 'service'))[0].n);
  }
  return {
    statements: status.Questions,
    // Commits that write. Commits that arrive together share one flush of the binary log.
    commits: status.Binlog_commits,
    flushes: status.Binlog_group_commits,
    logBytes: status.Innodb_os_log_written + logs.reduce((sum, log) => sum + Number(log.File_size), 0),
    cpuMs: processorMs(db.child.pid),
    rows,
  };
}
