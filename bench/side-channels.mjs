#!/usr/bin/env node
// npm run side-channels: whether the time of an answer tells what the answer itself does not tell. It asks the built service for
// two kinds of requests in turn, and prints how far their times differ. Run `npm run build:server` first.
// docs/security/side-channels.md has the figures.
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hash } from '@node-rs/bcrypt';
import PostalMime from 'postal-mime';
import { password, service } from './lib/contestants.mjs';
import { difference, interleaved, median, seeded } from './lib/effect-size.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { markdownTable } from './lib/markdown.mjs';
import { TimedConnection } from './lib/timed-connection.mjs';

const { values: options } = parseArgs({
  options: {
    samples: { type: 'string', default: '1000' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    // The lowest cost has the least noise, so it shows the most.
    cost: { type: 'string', default: '4' },
    hide: { type: 'string', default: 'true' },
    // Another build of the service.
    program: { type: 'string' },
  },
});
for (const name of ['samples', 'seed', 'cost']) {
  if (!/^[1-9]\d*$/.test(options[name])) throw new Error(`--${name} must be a whole number above 0`);
}
const samples = Number(options.samples);
/** Requests of each kind before the first sample: compiled code, warm caches, open connections. */
const warmUp = 40;
const each = samples + warmUp;
/** Some pairs need an account of its own for every request of both kinds. */
const users = 2 * each;
const random = seeded(Number(options.seed));

const captchaToken = 'bench-captcha-token';
const post = (path, body, headers = {}) =>
  request('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
const login = (username, typed) => post('/login', { username, password: typed, captcha_token: captchaToken });
const verify = (uid, code, mfaToken) => post('/otp-verify', { uid, type: 'email', code, mfa_token: mfaToken });
const introspect = (id, secret) =>
  request(
    'POST',
    '/introspect',
    {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    'token=nothing',
  );
const unusedToken = () => randomBytes(32).toString('base64url');
const withWrongDigit = (code, place) => code.slice(0, place) + ((Number(code[place]) + 5) % 10) + code.slice(place + 1);

/**
 * What is compared. `first(i)` and `second(i)` make the request of sample `i`. The answers of a pair have the same status
 * and error code, unless `told` says that the answer itself tells the kinds apart.
 */
const pairs = {
  control: {
    what: ['unknown name', 'unknown name'],
    first: (i) => login(`nope${i}`, 'Wrong-Horse-7'),
    second: (i) => login(`none${i}`, 'Wrong-Horse-7'),
  },
  login: {
    what: ['login: wrong password', 'unknown name'],
    first: (i) => login(`user${i}`, 'Wrong-Horse-7'),
    second: (i) => login(`none${i}`, 'Wrong-Horse-7'),
  },
  address: {
    what: ['login: wrong password, by address', 'unknown address'],
    first: (i) => login(`user${i}@example.com`, 'Wrong-Horse-7'),
    second: (i) => login(`none${i}@example.com`, 'Wrong-Horse-7'),
  },
  locked: {
    what: ['login: locked account', 'unknown name'],
    prepare: () =>
      db.run(
        "UPDATE users SET login_failed_count = 99, last_login_failed_time = '2100-01-01' WHERE login_name LIKE 'user%'",
        [],
        'service',
      ),
    first: (i) => login(`user${i}`, password),
    second: (i) => login(`none${i}`, password),
    tidy: () => db.run('UPDATE users SET login_failed_count = 0', [], 'service'),
  },
  forgotten: {
    what: ['forget-password: known address', 'unknown address'],
    first: (i) => post('/forget-password', { email: `user${i}@example.com` }),
    second: (i) => post('/forget-password', { email: `none${i}@example.com` }),
  },
  throttled: {
    what: ['forget-password again: known address', 'unknown address'],
    // The addresses that `forgotten` has asked for.
    prepare: () => askAll((i) => [pairs.forgotten.first(i), pairs.forgotten.second(i)]),
    first: (i) => pairs.forgotten.first(i),
    second: (i) => pairs.forgotten.second(i),
  },
  uid: {
    what: ['otp-verify: uid of a user', 'uid of nobody'],
    prepare: readUids,
    first: (i) => verify(state.uids[i], '123456', unusedToken()),
    second: () => verify(randomUUID(), '123456', unusedToken()),
  },
  digits: {
    what: ['otp-verify: five right digits', 'one wrong digit first'],
    prepare: openLogins,
    first: (i) => verify(state.uids[i], withWrongDigit(state.codes[i], 5), state.mfaTokens[i]),
    second: (i) => verify(state.uids[i], withWrongDigit(state.codes[i], 0), state.mfaTokens[i]),
  },
  code: {
    what: ['otp-verify: right code', 'wrong code'],
    told: true,
    prepare: openLogins,
    first: (i) => verify(state.uids[i], state.codes[i], state.mfaTokens[i]),
    // Of another login, because the right code ends its own.
    second: (i) => verify(state.uids[each + i], withWrongDigit(state.codes[each + i], 0), state.mfaTokens[each + i]),
  },
  client: {
    what: ['introspect: wrong secret', 'unknown client'],
    prepare: readClient,
    first: () => introspect(state.client, unusedToken()),
    second: () => introspect(randomUUID(), unusedToken()),
  },
};

const chosen = options.only === undefined ? Object.keys(pairs) : options.only.split(',');
const unknown = chosen.filter((name) => !(name in pairs));
if (unknown.length > 0)
  throw new Error(`there is no pair ${unknown.join(', ')}; there are ${Object.keys(pairs).join(', ')}`);

const state = { uids: [], codes: [], mfaTokens: [], client: '' };
const directory = mkdtempSync(join(tmpdir(), 'bench-side-channels-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const one = service({
  ...{ db, directory: join(directory, 'service'), program: options.program },
  settings: {
    NODE_ENV: 'test',
    BCRYPT_COST: options.cost,
    HIDE_ACCOUNT_EXISTENCE: options.hide,
    MFA_REQUIRED: 'true',
  },
});
try {
  await one.seed(users);
  const digest = await hash(password, { cost: Number(options.cost) });
  await db.run('UPDATE users SET password = ?, salt = ?', [digest, digest.slice(0, 29)], 'service');
  await one.start();
  console.log(
    `${new Date().toISOString()}, ${samples} samples of each kind, seed ${options.seed}, BCRYPT_COST ${options.cost}, ` +
      `HIDE_ACCOUNT_EXISTENCE=${options.hide}, Node ${process.version}, ${availableParallelism()} cores`,
  );
  const rows = [];
  for (const name of chosen) {
    const row = await compare(pairs[name]);
    rows.push([name, ...row]);
    console.error(`${name}: ${row.join(' | ')}`);
  }
  const head = ['pair', 'first', 'second', 'medians (ms)', 'difference (µs)', "Cliff's delta", 'shown', 'load'];
  console.log(markdownTable(head, rows));
} finally {
  await one.stop('SIGKILL');
  await db.child.stop();
}

async function compare({ what, told = false, prepare, tidy, first, second }) {
  await prepare?.();
  const connection = await TimedConnection.open(one.port);
  const times = [new Float64Array(samples), new Float64Array(samples)];
  const answers = [new Set(), new Set()];
  const next = [0, 0];
  for (const kind of interleaved(each, random)) {
    const i = next[kind]++;
    const { ms, answer } = await connection.ask((kind === 0 ? first : second)(i));
    // The warm-up.
    if (i < warmUp) continue;
    times[kind][i - warmUp] = ms;
    answers[kind].add(answer);
  }
  connection.close();
  await tidy?.();
  const [ofFirst, ofSecond] = answers.map((all) => [...all].sort().join());
  if (!told && options.hide === 'true' && ofFirst !== ofSecond) {
    throw new Error(`${what.join(' / ')} answered ${ofFirst} / ${ofSecond}`);
  }
  const { delta, median: middle, shown } = difference(times[0], times[1], random);
  const µs = (ms) => Math.round(ms * 1000).toString();
  const span = ({ value, low, high }, text) => `${text(value)} [${text(low)}, ${text(high)}]`;
  return [
    ...what,
    times.map((all) => median(all).toFixed(2)).join(' / '),
    span(middle, µs),
    span(delta, (value) => value.toFixed(3)),
    `${shown ? 'yes' : 'no'}${told ? ' (so does the answer)' : ''}`,
    loadavg()[0].toFixed(1),
  ];
}

/** Sends the requests of all samples, several at a time, and returns the answers in their order. */
async function askAll(requestsOf) {
  const bodies = [];
  let next = 0;
  const lane = async () => {
    const connection = await TimedConnection.open(one.port);
    for (let i = next++; i < users; i = next++) {
      for (const bytes of requestsOf(i)) bodies[i] = (await connection.ask(bytes)).body;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  return bodies;
}

async function readUids() {
  const rows = await db.run('SELECT uid, login_name AS name FROM users', [], 'service');
  state.uids = [];
  for (const { uid, name } of rows) state.uids[Number(name.slice('user'.length))] = uid;
}

async function readClient() {
  const [{ id }] = await db.run('SELECT id FROM service_clients', [], 'service');
  state.client = id;
}

/** Logs every user in up to the second factor. Without a mail server, the mails with the codes are files. */
async function openLogins() {
  await readUids();
  // The cooldown of a former round.
  await db.run("DELETE FROM cooldowns WHERE kind = 'otp'", [], 'service');
  const outbox = join(directory, 'service/outbox');
  rmSync(outbox, { recursive: true, force: true });
  const bodies = await askAll((i) => [login(`user${i}`, password)]);
  state.mfaTokens = bodies.map((body) => {
    const { data } = JSON.parse(body);
    if (!data?.mfa_token) throw new Error(`a login answered ${body}`);
    return data.mfa_token;
  });
  const codes = new Map();
  const seen = new Set();
  for (const until = performance.now() + 120_000; codes.size < users; await pause(200)) {
    if (performance.now() > until) throw new Error(`${codes.size} of ${users} codes have been sent`);
    for (const file of filesIn(outbox)) {
      if (seen.has(file)) continue;
      const mail = await PostalMime.parse(readFileSync(join(outbox, file)));
      seen.add(file);
      const code = /\b\d{6}\b/.exec(mail.text ?? '')?.[0];
      if (code !== undefined) codes.set(mail.to[0].address, code);
    }
  }
  state.codes = state.uids.map((_, i) => codes.get(`user${i}@example.com`));
}

function filesIn(folder) {
  try {
    return readdirSync(folder).filter((file) => file.endsWith('.eml'));
  } catch {
    return [];
  }
}

function request(method, path, headers, body) {
  const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': Buffer.byteLength(body) });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}
