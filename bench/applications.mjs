#!/usr/bin/env node
// node bench/applications.mjs [users]: the rows that sign-ins at an application leave in the tables, how long they are kept,
// and the bytes that each takes (docs/operations/sizing.md). It walks through the code flow of the built service, with its
// requests to a private MariaDB. Run `npm run build:server` first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Browser, newApplication } from './lib/code-flow.mjs';
import { service } from './lib/contestants.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const users = Number(process.argv[2] ?? 2000);
const directory = mkdtempSync(join(tmpdir(), 'bench-applications-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'), '512M');
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const one = service({
  db,
  directory: join(directory, 'service'),
  // The tokens of an application live as long as those of the service: with its defaults.
  settings: { OIDC: 'on', ACCESS_TOKEN_TTL_SECONDS: undefined },
});
try {
  await one.seed(users);
  const application = await newApplication(db);
  await one.start();
  await one.prepare(users, users);
  const signedIn = one.sessions.map((session) => ({ session, browser: new Browser(one.port) }));
  const steps = {
    first: ({ browser, session }) => browser.signIn(application, session.access_token),
    further: ({ browser }) => browser.signIn(application),
    renewal: ({ browser }) => browser.renew(application),
    end: ({ session }) => ended(session.access_token),
  };
  const rows = {};
  for (const [name, step] of Object.entries(steps)) {
    const before = await count();
    for (const user of signedIn) await step(user);
    const after = await count();
    for (const [kind, { n }] of Object.entries(after)) {
      rows[kind] ??= Object.fromEntries(Object.keys(steps).map((each) => [each, 0]));
      rows[kind][name] = (n - (before[kind]?.n ?? 0)) / users;
    }
    console.log(`${name}: done for ${users} users`);
  }
  const kinds = {};
  for (const [kind, { table, where, seconds }] of Object.entries(await count())) {
    const indexes = await bytesOfIndexes(table, where);
    kinds[kind] = { table, rows: rows[kind], seconds, indexes };
  }
  const [{ version }] = await db.run('SELECT VERSION() AS version');
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const result = { at: new Date().toISOString(), database: version, machine, users, kinds };
  writeFileSync(resolve(import.meta.dirname, 'results/applications.json'), `${JSON.stringify(result, null, 2)}\n`);
  const lines = Object.entries(kinds).map(([kind, { table, rows, seconds, indexes }]) => [
    table,
    kind,
    ...Object.values(rows).map(figure),
    figure(Object.values(indexes).reduce((a, b) => a + b)),
    figure(seconds),
  ]);
  console.log(markdownTable(['table', 'row', ...Object.keys(steps), 'bytes', 'lives seconds'], lines));
} finally {
  await one.stop('SIGKILL');
  await db.child.stop();
}

/** The rows of each kind, and the seconds from their insert to their expiry. */
async function count() {
  const counts = {};
  const records = await db.run(
    `SELECT kind, COUNT(*) AS n, MAX(TIMESTAMPDIFF(SECOND, created_at, expires)) AS seconds
     FROM oidc_records GROUP BY kind ORDER BY kind`,
    [],
    'service',
  );
  for (const { kind, n, seconds } of records) {
    counts[kind] = { table: 'oidc_records', where: `kind = '${kind}'`, n: Number(n), seconds: Number(seconds) };
  }
  const ofTables = { application_sessions: 'TRUE', application_logouts: 'TRUE' };
  for (const [table, where] of Object.entries(ofTables)) counts[table] = { table, where };
  counts.audit_logs = { table: 'audit_logs', where: "event = 'APPLICATION_SIGNED_IN'" };
  for (const each of Object.values(counts)) {
    each.n ??= Number(
      (await db.run(`SELECT COUNT(*) AS n FROM ${each.table} WHERE ${each.where}`, [], 'service'))[0].n,
    );
  }
  return counts;
}

/** The rows of one kind, copied into a table of their own in no order: the pages that each index reserves, divided by the rows. */
async function bytesOfIndexes(table, where) {
  const copy = `copy_of_${table}`;
  await db.run(`DROP TABLE IF EXISTS ${copy}`, [], 'service');
  await db.run(`CREATE TABLE ${copy} LIKE ${table}`, [], 'service');
  const order = table === 'audit_logs' ? 'id' : 'RAND(1)';
  await db.run(`INSERT INTO ${copy} SELECT * FROM ${table} WHERE ${where} ORDER BY ${order}`, [], 'service');
  const [{ n }] = await db.run(`SELECT COUNT(*) AS n FROM ${copy}`, [], 'service');
  await db.run(`ANALYZE TABLE ${copy}`, [], 'service');
  const sizes = await db.run(
    `SELECT index_name AS name, stat_value * @@innodb_page_size AS size FROM mysql.innodb_index_stats
     WHERE database_name = 'service' AND table_name = ? AND stat_name = 'size'`,
    [copy],
  );
  return Object.fromEntries(sizes.map(({ name, size }) => [name, Number(size) / Number(n)]));
}

async function ended(access) {
  const answer = await fetch(`http://127.0.0.1:${one.port}/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${access}` },
  });
  if (answer.status !== 200) throw new Error(`the log-out answered ${answer.status} ${await answer.text()}`);
}
