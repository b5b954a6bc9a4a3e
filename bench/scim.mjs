#!/usr/bin/env node
// node bench/scim.mjs [USERS] [GROUPS] [MADE]: a directory makes users and groups by SCIM (SQL makes all but MADE of them), reads all of
// them page by page, and finds and disables some: the time and the rows that the database needs for each kind of request, and the memory of the service after a
// garbage collection. It writes results/scim.json. Run `npm run build:server` first.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { service } from './lib/contestants.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const [users, groups] = [Number(process.argv[2] ?? 50_000), Number(process.argv[3] ?? 5000)];
const [some, members, perPage] = [1000, 10, 200];
/** The counters of the database are read beside one of so many writes, and beside each read. */
const sampled = 20;
const steps = 5;
const made = Number(process.argv[4] ?? 1000);
const madeGroups = made / members;
const root = resolve(import.meta.dirname, '..');
const probe = join(root, 'test/support/fuzz/memory-probe.mjs');

const directory = mkdtempSync(join(tmpdir(), 'bench-scim-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; SET GLOBAL userstat = 1');
const settings = { SCIM: 'on' };
const one = service({ db, directory: join(directory, 'service'), nodeArgs: ['--import', probe], settings });
const costs = new Map();
const memory = {};
const counters = await createConnection(db.urlOf('service'));
let token;
try {
  await one.seed(users - made);
  await db.run(filled(), [], 'service');
  await one.start();
  const cli = [join(root, 'dist/src/cli.js'), 'client', 'create', 'bench', '--scim', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, cli, { env: { PATH: process.env.PATH, ...one.env } });
  ({ token } = JSON.parse(stdout));
  await remember('after the start');
  const uids = [];
  for (let step = 1; step <= steps; step++) {
    while (uids.length < (made * step) / steps) {
      const n = uids.length;
      const user = { userName: `made-${n}`, externalId: `made-${n}`, displayName: `Made ${n}` };
      uids.push((await ask('create a user', 'POST', '/Users', user, n % sampled === 0)).id);
    }
    await remember(`${uids.length} users made`);
  }
  for (let n = 0; n < madeGroups; n++) {
    const isSampled = n % sampled === 0;
    const { id } = await ask('create a group', 'POST', '/Groups', { displayName: `Made ${n}` }, isSampled);
    const value = Array.from({ length: members }, (_, k) => ({ value: uids[(n * members + k) % made] }));
    const Operations = [{ op: 'Add', path: 'members', value }];
    await ask(`add ${members} members`, 'PATCH', `/Groups/${id}`, { Operations }, isSampled);
  }
  await remember(`${madeGroups} groups made`);
  await db.run('ANALYZE TABLE users, user_groups, user_group_members', [], 'service');
  for (const walk of ['one', 'two']) {
    for (const resource of ['Users', 'Groups']) {
      const kind = `page of ${perPage} ${resource.toLowerCase()}`;
      for (let startIndex = 1, total = 1; startIndex <= total; startIndex += perPage) {
        const path = `/${resource}?startIndex=${startIndex}&count=${perPage}`;
        total = (await ask(kind, 'GET', path)).totalResults;
      }
    }
    await remember(`all pages, ${walk} time${walk === 'one' ? '' : 's'}`);
  }
  for (let n = 0; n < Math.min(some, made); n++) {
    const filter = encodeURIComponent(`externalId eq "made-${n}"`);
    await ask('find a user by externalId', 'GET', `/Users?filter=${filter}`);
    const Operations = [{ op: 'Replace', path: 'active', value: 'False' }];
    await ask('disable a user', 'PATCH', `/Users/${uids[n]}`, { Operations });
  }
  await remember(`${some} users found and disabled`);
  report();
} finally {
  await counters.end();
  await one.stop('SIGKILL');
  await db.child.stop();
}

async function ask(kind, method, path, body, isSampled = true) {
  const before = isSampled ? await state() : undefined;
  const begun = performance.now();
  const answer = await fetch(`http://127.0.0.1:${one.port}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: body && JSON.stringify(body),
  });
  const text = await answer.text();
  const ms = performance.now() - begun;
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  const after = isSampled ? await state() : undefined;
  const list = costs.get(kind) ?? [];
  costs.set(kind, list);
  const spent = (field) => (isSampled ? after[field] - before[field] : undefined);
  list.push({ ms, databaseMs: spent('busyMs'), rows: spent('rows') });
  return text === '' ? undefined : JSON.parse(text);
}

/** The statement that reads the counters is a part of what it reads: about 1 ms. */
async function state() {
  const [rows] = await counters.query(
    "SHOW GLOBAL STATUS WHERE Variable_name = 'Busy_time' OR Variable_name LIKE 'Handler_read%'",
  );
  const of = (test) => rows.filter((row) => test(row.Variable_name)).reduce((sum, row) => sum + Number(row.Value), 0);
  return { busyMs: 1000 * of((name) => name === 'Busy_time'), rows: of((name) => name.startsWith('Handler_read')) };
}

async function remember(when) {
  const count = Object.keys(memory).length + 1;
  process.kill(one.child.pid, 'SIGUSR2');
  const line = new RegExp(`^{"memory":${count},.*$`, 'm');
  let found = null;
  while ((found = line.exec(readFileSync(join(one.directory, `${one.name}.log`), 'utf8'))) === null) await pause(50);
  const { heapMb, rssMb } = JSON.parse(found[0]);
  memory[when] = { heapMb, rssMb };
}

/** Each user has one group of ten members, and a name at the directory. */
function filled() {
  const now = 'UTC_TIMESTAMP(3)';
  return `
    UPDATE users SET external_id = CONCAT('x-', login_name), in_groups = 1;
    INSERT INTO user_groups (id, tenant_id, name, name_key, source, version, created_at, changed_at)
      SELECT UUID(), 'root', CONCAT('Group ', seq), CONCAT('group ', seq), 'scim', 1, ${now}, ${now}
      FROM seq_0_to_${groups - madeGroups - 1};
    INSERT INTO user_group_members (group_id, user_id, added_at)
      SELECT g.id, u.uid, ${now} FROM seq_0_to_${users - made - 1} s
      JOIN users u ON u.login_name_key = CONCAT('user', s.seq)
      JOIN user_groups g ON g.tenant_id = 'root' AND g.name_key = CONCAT('group ', s.seq MOD ${groups - madeGroups});`;
}

function report() {
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const requests = [...costs].map(([kind, list]) => {
    const at = (field, share) => {
      const sorted = list.flatMap((one) => one[field] ?? []).toSorted((a, b) => a - b);
      return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    };
    return {
      ...{ kind, count: list.length, medianMs: at('ms', 0.5) },
      ...{
        databaseMs: at('databaseMs', 0.5),
        databaseMsP95: at('databaseMs', 0.95),
        mostDatabaseMs: at('databaseMs', 1),
      },
      ...{ rows: at('rows', 0.5), mostRows: at('rows', 1) },
    };
  });
  const result = {
    at: new Date().toISOString(),
    machine,
    settings: { users, groups, made, perPage },
    requests,
    memory,
  };
  writeFileSync(resolve(import.meta.dirname, 'results/scim.json'), `${JSON.stringify(result, null, 2)}\n`);
  const fields = ['count', 'medianMs', 'databaseMs', 'databaseMsP95', 'mostDatabaseMs', 'rows', 'mostRows'];
  console.log(
    markdownTable(
      ['kind', ...fields],
      requests.map((one) => [one.kind, ...fields.map((f) => figure(one[f]))]),
    ),
  );
  console.log(
    markdownTable(
      ['', 'heap MB', 'resident MB'],
      Object.entries(memory).map(([when, { heapMb, rssMb }]) => [when, `${heapMb}`, `${rssMb}`]),
    ),
  );
}
