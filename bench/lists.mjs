#!/usr/bin/env node
// node bench/lists.mjs [USERS] [EVERY]: the lists and searches of the console with a million users and, in the same run, with 10,000: the
// rows that MariaDB reads, and the processor time that it takes, for each kind of list. It asks for each list (of the searches for every
// EVERY-th one) and for its second page, one after the other. It writes results/lists.json. Run `npm run build:server` first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { listsOf, Measured } from './lib/console-lists.mjs';
import { service } from './lib/contestants.mjs';
import { fillManyUsers } from './lib/many-users.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const [many, every] = [Number(process.argv[2] ?? 1_000_000), Number(process.argv[3] ?? 1)];
const few = 10_000;
const settings = { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false', OIDC: 'on' };

const directory = mkdtempSync(join(tmpdir(), 'bench-lists-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'), '5G');
await db.run('SET GLOBAL userstat = 1');
const started = [];
try {
  // Of an administrator of all tenants, and of one of a tenant with one user of a hundred.
  const kinds = new Map();
  for (const [size, users] of Object.entries({ many, few })) {
    const { one, lists, bearers } = await installation(size, users);
    for (const [n, bearer] of bearers.entries()) {
      const measured = await Measured.open({ url: db.urlOf(size), port: one.port, bearer });
      for (const [kind, path] of lists)
        await costOf(measured, size, `${n === 0 ? 'all tenants' : 'one tenant'}: ${kind}`, path, kinds);
      await measured.close();
    }
    await one.stop('SIGKILL');
  }
  report(kinds);
} finally {
  for (const one of started) await one.stop('SIGKILL');
  await db.child.stop();
}

async function installation(name, users) {
  await db.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  const one = service({ name, db, database: name, directory: join(directory, name), settings });
  await one.seed(2);
  const run = (statement) => db.run(statement, [], name);
  await fillManyUsers(run, users);
  await run("UPDATE users SET is_admin = 1 WHERE login_name IN ('user0', 'user1')");
  await run("UPDATE users SET tenant_id = 'small' WHERE login_name = 'user1'");
  const [{ uid, login_name: loginName }] = await run(
    "SELECT uid, login_name FROM users WHERE nickname LIKE 'anna%' AND tenant_id = 'small' LIMIT 1",
  );
  const [{ id: group }] = await run("SELECT id FROM user_groups WHERE name_key = 'group 0'");
  const [{ request_id: requestId }] = await run('SELECT request_id FROM login_logs LIMIT 1');
  await one.start();
  started.push(one);
  const bearers = [];
  for (const n of [0, 1]) bearers.push((await one.openSession(n)).access_token);
  const all = listsOf({ uid, loginName, requestId, group });
  return { one, bearers, lists: all.filter(([kind], n) => !kind.startsWith('users') || n % every === 0) };
}

async function costOf(measured, size, kind, path, kinds) {
  const known = kinds.get(kind) ?? { many: { rows: 0, databaseMs: 0 }, few: { rows: 0, databaseMs: 0 }, asked: 0 };
  kinds.set(kind, known);
  let next = '';
  for (let page = 0; page < 2 && next !== null; page++) {
    const { status, data, rows, databaseMs } = await measured.cost(page === 0 ? path : `${path}&after=${next}`);
    // Some lists are for administrators of the root tenant.
    if (status === 403 || status === 404) return;
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    const most = known[size];
    known.asked += 1;
    known[size] = { rows: Math.max(most.rows, rows), databaseMs: Math.max(most.databaseMs, databaseMs) };
    next = data.next ?? null;
  }
}

function report(kinds) {
  const lists = [...kinds]
    .filter(([, { asked }]) => asked > 0)
    .map(([kind, one]) => ({ kind, ...one, ratio: one.many.rows / Math.max(1, one.few.rows) }));
  lists.sort((a, b) => b.many.databaseMs - a.many.databaseMs);
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const file = { at: new Date().toISOString(), machine, settings: { many, few, every }, lists };
  writeFileSync(resolve(import.meta.dirname, 'results/lists.json'), `${JSON.stringify(file, null, 2)}\n`);
  console.log(
    markdownTable(
      ['list', 'rows, most', 'processor ms, most', 'rows with 10,000 users', 'ratio'],
      lists.map(({ kind, many: most, few: least, ratio }) => [
        kind,
        ...[most.rows, most.databaseMs, least.rows, ratio].map(figure),
      ]),
    ),
  );
}
