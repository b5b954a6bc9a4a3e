#!/usr/bin/env node
// node bench/years.mjs [USERS,USERS,…] [EVERY] [LOGINS]: what requests, `purge` and the end of an account cost MariaDB as the tables grow.
// Each step fills a database of its own: for each user 10 tokens, 50 logins (or LOGINS), 2 audit rows, 4 passwords, a browser and a
// mail. It does each operation with 20 users, and asks for each list of the console (of the searches for every EVERY-th one). It writes
// results/years.json (docs/operations/scale.md); `npm run sizing -- --write` renews the page. Run `npm run build:server` first.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { listsOf, Measured } from './lib/console-lists.mjs';
import { password, service } from './lib/contestants.mjs';
import { Counters } from './lib/counters.mjs';
import { fillManyUsers } from './lib/many-users.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { median } from './lib/report.mjs';
import { oldRows, oldRowsOfTable } from './lib/old-rows.mjs';

const steps = (process.argv[2] ?? '1000,10000,100000,1000000').split(',').map(Number);
const every = Number(process.argv[3] ?? 29);
const [samples, days] = [20, 390];
const rows = { logins: Number(process.argv[4] ?? 50), audits: 2, tokens: 10, passwords: 4, browsers: 1, mails: 1 };
const settings = { ADMIN_API: 'on', ADMIN_REQUIRES_MFA: 'false', OIDC: 'on', STEP_UP_MAX_AGE_SECONDS: '7200' };
const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);

const directory = mkdtempSync(join(tmpdir(), 'bench-years-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'), '8G');
await db.run('SET GLOBAL userstat = 1');
const [{ version }] = await db.run('SELECT VERSION() AS version');
const measured = [];
try {
  for (const users of steps) {
    const step = await measureStep(`years${users}`, users);
    measured.push(step);
    await db.run(`DROP DATABASE years${users}`);
    console.log(step.operations);
    save();
  }
} finally {
  await db.child.stop();
}

/** After each step, so that a run that ends early leaves what it has measured. */
function save() {
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const options = { every, samples, oldRows, days, rows };
  const file = { at: new Date().toISOString(), database: version, machine, options, steps: measured };
  writeFileSync(join(root, 'bench/results/years.json'), `${JSON.stringify(file, null, 2)}\n`);
}

async function measureStep(name, users) {
  await db.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
  const sql = (statement, values = []) => db.run(statement, values, name);
  const one = service({ name, db, database: name, directory: join(directory, name), settings });
  await one.seed(2);
  console.log(`filling for ${users} users`);
  const begun = performance.now();
  await fillManyUsers(sql, users, { ...rows, secondsPerLogin: (days * 86_400) / (rows.logins * users) });
  const filledSeconds = (performance.now() - begun) / 1000;
  console.log(`filled in ${Math.round(filledSeconds)} s`);
  const people = await givenPeople(sql);
  await one.start();
  const counters = await Counters.open(db.urlOf(name));
  try {
    const { access_token: bearer } = await one.openSession(0);
    const operations = {
      ...(await ofPeople(one, counters, people, bearer)),
      // Before the overview: its first reading lets the service count the users in the background, which the counters of the server include.
      ...(await ofEnds(one, counters, people, bearer)),
      ...(await ofLists(one, name, bearer, sql)),
    };
    await one.stop('SIGKILL');
    Object.assign(operations, await ofPurge(one, counters, sql));
    return { users, filledSeconds, bytes: await bytesOf(name), operations };
  } finally {
    await counters.close();
    if (one.child.alive) await one.stop('SIGKILL');
  }
}

/** Some of the users get a password. Each has the rows that every user has. */
async function givenPeople(sql) {
  await sql("UPDATE users SET is_admin = 1 WHERE login_name = 'user0'");
  await sql(`UPDATE users u JOIN users seeded ON seeded.login_name = 'user0' JOIN bench_people p ON p.uid = u.uid
    SET u.password = seeded.password, u.salt = seeded.salt WHERE p.seq < 400 AND p.status = 1 AND p.failed = 0`);
  const people = await sql(
    "SELECT u.uid, u.login_name AS name FROM users u JOIN bench_people p ON p.uid = u.uid WHERE p.seq < 400 AND u.password <> '' ORDER BY p.seq",
  );
  if (people.length < 5 * samples) throw new Error('there are too few users');
  return people;
}

/** The median of an operation. The first two uses of a statement prepare it, so they do not count. */
async function cost(counters, work, people) {
  const costs = [];
  for (const [n, person] of people.entries()) {
    const { spent } = await counters.spent(() => work(person));
    if (n >= 2) costs.push(spent);
  }
  return Object.fromEntries(Object.keys(costs[0]).map((field) => [field, median(costs.map((one) => one[field]))]));
}

async function ofPeople(one, counters, people, bearer) {
  const some = people.slice(0, samples + 2);
  const logIn = (name, word = password) =>
    send(one, 'POST', '/login', { body: { username: name, password: word, captcha_token: 'bench-captcha-token' } });
  const login = async (person) => {
    let { status, data } = await logIn(person.name);
    // A busy machine refuses a login. The median leaves out what the repetition costs.
    for (let n = 0; status === 503 && n < 20; n++) {
      await pause(1000);
      ({ status, data } = await logIn(person.name));
    }
    if (status !== 200) throw new Error(`the login of ${person.name} answered ${status} ${JSON.stringify(data)}`);
    Object.assign(person, data);
  };
  const ok = async (asked) => {
    const { status } = await asked;
    if (status !== 200) throw new Error(`an operation answered ${status}`);
  };
  const refused = async (asked) => {
    const { status } = await asked;
    if (status !== 503 && (status < 400 || status >= 500)) throw new Error(`an operation answered ${status}`);
  };
  const get = (path, token) => send(one, 'GET', path, { token });
  return {
    login: await cost(counters, login, some),
    'wrong password': await cost(
      counters,
      ({ name }) => refused(logIn(name, 'Wrong-Horse-7')),
      people.slice(-some.length),
    ),
    'unknown name': await cost(counters, ({ uid }) => refused(logIn(uid)), some),
    '`/user/me`': await cost(counters, ({ access_token: token }) => ok(get('/user/me', token)), some),
    refresh: await cost(counters, ({ refresh_token: token }) => ok(send(one, 'POST', '/refresh', { token })), some),
    'own sessions': await cost(counters, ({ access_token: token }) => ok(get('/user/sessions', token)), some),
    'own logins': await cost(counters, ({ access_token: token }) => ok(get('/user/login-history', token)), some),
    'one user in the console': await cost(counters, ({ uid }) => ok(get(`/admin/users/${uid}`, bearer)), some),
    logout: await cost(
      counters,
      ({ access_token: token }) => ok(send(one, 'POST', '/logout', { token, body: {} })),
      some,
    ),
  };
}

/** Of each group of lists the request that reads the most rows. */
async function ofLists(one, name, bearer, sql) {
  const [{ uid, login_name: loginName }] = await sql(
    "SELECT uid, login_name FROM users WHERE nickname LIKE 'anna%' LIMIT 1",
  );
  const [{ id: group }] = await sql("SELECT id FROM user_groups WHERE name_key = 'group 0'");
  const [{ request_id: requestId }] = await sql('SELECT request_id FROM login_logs LIMIT 1');
  const asked = await Measured.open({ url: db.urlOf(name), port: one.port, bearer });
  const groups = {};
  for (const [n, [kind, path]] of listsOf({ uid, loginName, requestId, group }).entries()) {
    if (kind.startsWith('users') && n % every !== 0) continue;
    const { status, rows: read, databaseMs } = await asked.cost(path);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    const most = (groups[groupOf(kind)] ??= { rows: 0, databaseMs: 0, lists: 0 });
    most.lists += 1;
    if (read > most.rows) Object.assign(most, { rows: read, worst: path });
    most.databaseMs = Math.max(most.databaseMs, databaseMs);
  }
  await asked.close();
  return groups;
}

function groupOf(kind) {
  if (kind === 'overview') return 'the overview, its first reading';
  if (kind.startsWith('users')) return kind.includes('no word') ? 'lists of users' : 'searches of users';
  if (/^(login|audit)-logs/.test(kind)) return 'searches of logs';
  return 'other lists';
}

async function ofEnds(one, counters, people, bearer) {
  const change = (method, path, body) => async (person) => {
    const { status, data } = await send(one, method, path(person), { token: bearer, body });
    if (status !== 200) throw new Error(`${method} ${path(person)} answered ${status} ${JSON.stringify(data)}`);
  };
  const next = (n) => people.slice(n * (samples + 2), (n + 1) * (samples + 2));
  const offboard = change('POST', ({ uid }) => `/admin/users/${uid}/offboard`, {});
  return {
    'off-boarding of a user': await cost(counters, offboard, next(1)),
    'erasure of a user': await cost(
      counters,
      change('DELETE', ({ uid }) => `/admin/users/${uid}`),
      next(2),
    ),
  };
}

/** The same number of old rows in each step. A second run, which finds none, tells what a run costs without them. */
async function ofPurge(one, counters, sql) {
  const purge = () =>
    run(process.execPath, [join(root, 'dist/src/cli.js'), 'purge', '--json'], {
      cwd: directory,
      env: { PATH: process.env.PATH, NODE_ENV: 'development', ...one.env },
    });
  await purge();
  const runs = [];
  for (const isFull of [true, false]) {
    if (isFull) for (const statement of Object.values(oldRowsOfTable)) await sql(statement);
    const { result, spent } = await counters.spent(purge);
    runs.push({ ...spent, removed: JSON.parse(result.stdout) });
  }
  const [full, idle] = runs;
  for (const table of Object.keys(oldRowsOfTable)) {
    if (full.removed[table] !== oldRows) throw new Error(`purge has deleted ${full.removed[table]} rows of ${table}`);
  }
  const more = (field) => full[field] - idle[field];
  return {
    'purge: the deletion of old rows': {
      rows: more('rows'),
      databaseMs: more('databaseMs'),
      statements: more('statements'),
    },
    'purge: a run that finds none': { rows: idle.rows, databaseMs: idle.databaseMs, statements: idle.statements },
  };
}

async function bytesOf(name) {
  const [{ bytes }] = await db.run(
    'SELECT SUM(data_length + index_length) AS bytes FROM information_schema.tables WHERE table_schema = ?',
    [name],
  );
  return Number(bytes);
}

async function send(one, method, path, { token, body }) {
  const answer = await fetch(`http://127.0.0.1:${one.port}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  });
  return { status: answer.status, data: (await answer.json()).data };
}
