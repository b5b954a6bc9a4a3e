#!/usr/bin/env node
// node bench/day.mjs [USERS]: the processor time of a working day, of the service and of MariaDB: each user logs in with a password and
// an authenticator, refreshes 30 times, is checked 300 times and signs in at ten applications. It writes results/day.json
// (docs/operations/sizing.md). Run `npm run build:server` first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import speakeasy from 'speakeasy';
import { processorMs } from './lib/children.mjs';
import { Browser, newApplication } from './lib/code-flow.mjs';
import { service } from './lib/contestants.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const users = Number(process.argv[2] ?? 200);
const applications = 10;
const clients = 4;
const directory = mkdtempSync(join(tmpdir(), 'bench-day-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const one = service({
  db,
  directory: join(directory, 'service'),
  settings: { OIDC: 'on', MFA_REQUIRED: 'enrolled' },
});
try {
  await one.seed(users);
  const registered = await Promise.all(Array.from({ length: applications }, () => newApplication(db)));
  await one.start();
  const people = await Promise.all(Array.from({ length: users }, (_, i) => newPerson(i)));
  await each(people, enrol);
  const day = {
    login: [1, async (person) => (person.pending = await loggedIn(person))],
    secondFactor: [1, async (person) => Object.assign(person, await answered(person, codeOf(person)))],
    refresh: [30, async (person) => (person.access_token = await refreshed(person))],
    check: [300, async ({ access_token: token }) => send('GET', '/user/me', { token })],
    singleSignOn: [applications, ({ browser, access_token: token }, i) => browser.signIn(registered[i], token)],
  };
  const kinds = {};
  for (const [kind, [times, step]] of Object.entries(day)) {
    const before = spent();
    await each(people, async (person) => {
      for (let i = 0; i < times; i++) await step(person, i);
    });
    const after = spent();
    const ms = (name) => (after[name] - before[name]) / users / times;
    kinds[kind] = { times, serviceMs: ms('service'), databaseMs: ms('database') };
    console.log(`${kind}: done ${times} times for ${users} users`);
  }
  const [{ version }] = await db.run('SELECT VERSION() AS version');
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const result = { at: new Date().toISOString(), database: version, machine, users, clients, kinds };
  writeFileSync(resolve(import.meta.dirname, 'results/day.json'), `${JSON.stringify(result, null, 2)}\n`);
  const lines = Object.entries(kinds).map(([kind, { times, serviceMs, databaseMs }]) => [
    kind,
    `${times}`,
    figure(serviceMs),
    figure(databaseMs),
  ]);
  console.log(markdownTable(['one', 'a day', 'ms of the service', 'ms of MariaDB'], lines));
} finally {
  await one.stop('SIGKILL');
  await db.child.stop();
}

function spent() {
  return { service: one.cpuMs, database: processorMs(db.child.pid) };
}

/** Some people at a time, each of whom does one thing after another. */
async function each(people, work) {
  const waiting = [...people];
  const client = async () => {
    for (let person = waiting.shift(); person !== undefined; person = waiting.shift()) await work(person);
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function newPerson(index) {
  return { index, browser: new Browser(one.port) };
}

/** Confirmed by the code of the time step before, so that the code of the login is another one. */
async function enrol(person) {
  const { access_token: token } = await loggedIn(person);
  const { sub: uid } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
  const { secret } = await send('POST', '/totp-secret', { token });
  Object.assign(person, { uid, secret });
  await send('POST', '/otp-verify', { token, body: { uid, type: 'totp', code: codeOf(person, -1) } });
}

function loggedIn({ index }) {
  const [head, body] = one.login(index).split('\r\n\r\n');
  return send('POST', head.split(' ')[1], { body: JSON.parse(body) });
}

function answered({ uid, pending: { mfa_token: token } }, code) {
  return send('POST', '/otp-verify', { body: { uid, type: 'totp', code, mfa_token: token } });
}

async function refreshed({ refresh_token: token }) {
  return (await send('POST', '/refresh', { token })).access_token;
}

function codeOf({ secret }, steps = 0) {
  return speakeasy.totp({ secret, encoding: 'base32', time: Date.now() / 1000 + steps * 30 });
}

async function send(method, path, { token, body } = {}) {
  const answer = await fetch(`http://127.0.0.1:${one.port}${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const envelope = await answer.json();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status} ${JSON.stringify(envelope)}`);
  return envelope.data;
}
