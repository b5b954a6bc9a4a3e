// The servers that the bench compares: the built service, the reference and better-auth. Each brings its test data, its
// start command and its requests.
import { randomBytes, randomUUID } from 'node:crypto';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hash } from '@node-rs/bcrypt';
import { BoundClient } from './bound-requests.mjs';
import { bundle } from './bundle.mjs';
import { freePort, processorMs, residentMiB, start, untilReady } from './children.mjs';

const run = promisify(execFile);
const bench = resolve(import.meta.dirname, '..');
const root = resolve(bench, '..');
export const password = 'Correct-Horse-7';
const captchaToken = 'bench-captcha-token';

const secrets = {
  JWT_SECRET: randomBytes(48).toString('base64'),
  DATA_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};

/** The service behind the portal that asks about tokens. */
const client = { id: randomUUID(), secret: randomBytes(32).toString('base64url') };

/** Client addresses per session. With one address, its rate-limit counter would grow as it never does in production. */
const addressesPerSession = 64;
const addressOf = (i) => `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;

/** Settings of production, except for the loopback address, a fixed captcha token, and unreachable rate limits. */
export const serviceSettings = {
  ...secrets,
  HOST: '127.0.0.1',
  SYSTEM_URL: 'https://portal.example.com',
  CAPTCHA_TEST_TOKEN: captchaToken,
  BCRYPT_COST: '10',
  MIGRATE_ON_START: 'false',
  API_DOCS: 'false',
  RATE_LIMIT: 'on',
  ...Object.fromEntries(
    ['LOGIN', 'OTP', 'CAPTCHA', 'FORGOT_PASSWORD', 'INTROSPECTION', 'OTHER', 'SESSION', 'TARGET'].map((of) => [
      `RATE_LIMIT_${of}`,
      '2000000000',
    ]),
  ),
  // Rate limits and the order of the hash queue depend on the client address, so the service trusts X-Forwarded-For.
  TRUSTED_PROXIES: '127.0.0.1',
  // A run may last longer than the default of 15 minutes.
  ACCESS_TOKEN_TTL_SECONDS: '7200',
  // 128 logins at once wait four seconds on two cores. Only the scenario `overload` measures refusals, with the default.
  HASH_QUEUE_MAX_WAIT_MS: '20000',
};

/**
 * @param {{ name: string, program?: string, db: object, database?: string, directory: string, nodeArgs?: string[],
 * settings?: object }} options
 */
export function service({
  name = 'service',
  program,
  db,
  database = 'service',
  directory,
  nodeArgs = [],
  settings = {},
}) {
  const [file = 'dist/src/main.js', ...options] = (program ?? '').split(' ').filter(Boolean).reverse();
  const main = resolve(root, file);
  const env = { ...serviceSettings, DATABASE_URL: db.urlOf(database), DATA_DIR: directory, ...settings };
  return new Contestant({
    name,
    program,
    directory,
    command: [...nodeArgs, ...options.reverse(), main],
    env,
    seed: async (users) => {
      await run(process.execPath, [main.replace(/main\.js$/, 'cli.js'), 'migrate'], {
        env: { PATH: process.env.PATH, ...env },
      });
      await db.run(await ownUsers(users), [], database);
      await db.run(
        'INSERT INTO service_clients (id, name, secret_hash, created_at) VALUES (?, ?, SHA2(?, 256), UTC_TIMESTAMP(3))',
        [client.id, 'bench', client.secret],
        database,
      );
    },
    ...ownRequests,
    bindsTokens: true,
    calls: { ...ownRequests.calls, introspect, verify },
  });
}

/** Uses copies of the tables of the service, with users of its own. */
export function reference({ db, directory, nodeArgs = [] }) {
  return new Contestant({
    name: 'reference',
    directory,
    command: [...nodeArgs, join(bench, 'servers/reference.mjs')],
    env: { ...secrets, DATABASE_URL: db.urlOf('reference') },
    seed: async (users) => {
      const tables = ['users', 'login_tokens', 'login_logs', 'user_change_pwd_logs'];
      await db.run(tables.map((table) => `CREATE TABLE ${table} LIKE service.${table};`).join('\n'), [], 'reference');
      await db.run(await ownUsers(users), [], 'reference');
    },
    ...ownRequests,
  });
}

export function betterAuth({ db, directory }) {
  const env = { ...secrets, NODE_ENV: 'production', DATABASE_URL: db.urlOf('better_auth') };
  const command = [join(bench, 'servers/better-auth.mjs')];
  return new Contestant({
    name: 'better-auth',
    directory,
    command,
    env,
    seed: async (users) => {
      await run(process.execPath, [...command, '--migrate'], { env: { PATH: process.env.PATH, PORT: '0', ...env } });
      const digest = await hash(password, { cost: 10 });
      const rows = Array.from({ length: users }, (_, i) => i);
      await db.run(
        'INSERT INTO user (id, name, email, emailVerified, createdAt, updatedAt) VALUES ?',
        [rows.map((i) => [`user${i}`, `User ${i}`, `user${i}@example.com`, 1, new Date(), new Date()])],
        'better_auth',
      );
      await db.run(
        'INSERT INTO account (id, accountId, providerId, userId, password, createdAt, updatedAt) VALUES ?',
        [rows.map((i) => [`account${i}`, `user${i}`, 'credential', `user${i}`, digest, new Date(), new Date()])],
        'better_auth',
      );
    },
    login: (i) => json('/api/auth/sign-in/email', { email: `user${i}@example.com`, password }),
    session: (answer) =>
      answer.headers
        .getSetCookie()
        .map((cookie) => cookie.split(';')[0])
        .join('; '),
    calls: { refresh: (cookie) => text('GET', '/api/auth/get-session', { cookie }) },
  });
}

/** The yardstick of the start: Nest on Fastify with one route, bundled as the service is, without a code cache. */
export async function emptyNest({ directory }) {
  const file = join(directory, 'empty-nest.cjs');
  await bundle(join(bench, 'servers/empty-nest.cjs'), file);
  return new Contestant({ name: 'empty Nest', directory, command: [file], env: {} });
}

/** Installs the dependencies of the bench if they are missing. */
export async function installBetterAuth() {
  if (!existsSync(join(bench, 'node_modules/@better-auth/oauth-provider'))) {
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: bench });
  }
}

export class Contestant {
  constructor(what) {
    Object.assign(this, what);
    mkdirSync(this.directory, { recursive: true });
  }

  /** @returns milliseconds from the start of the process to its first ready answer */
  async start() {
    this.port = await freePort();
    const begun = performance.now();
    this.child = start({
      name: this.name,
      args: this.command,
      env: { NODE_ENV: 'development', ...this.env, PORT: `${this.port}` },
      cwd: this.directory,
      log: join(this.directory, `${this.name}.log`),
    });
    await untilReady(this.child, async () => (await fetch(`http://127.0.0.1:${this.port}/health/ready`)).ok, {
      every: 3,
    });
    return performance.now() - begun;
  }

  get rss() {
    return residentMiB(this.child.pid);
  }

  get cpuMs() {
    return processorMs(this.child.pid);
  }

  stop(signal) {
    return this.child.stop(signal);
  }

  /** Opens sessions and prepares the requests of every scenario. */
  async prepare(users, sessions) {
    this.logins = Array.from({ length: users }, (_, i) => this.login(i));
    const opened = [];
    for (let i = 0; i < sessions; i += 4) {
      opened.push(...(await Promise.all([0, 1, 2, 3].map((step) => this.openSession((i + step) % users)))));
    }
    this.sessions = opened;
    this.requests = Object.fromEntries(
      Object.entries(this.calls).map(([name, request]) => [
        name,
        Array.from({ length: sessions * addressesPerSession }, (_, i) => request(opened[i % sessions], addressOf(i))),
      ]),
    );
  }

  /** Sessions that are bound to keys, one each. Only the service has them. */
  async prepareBound(sessions) {
    if (!this.bindsTokens) return;
    this.bound = [];
    for (let i = 0; i < sessions; i++) {
      const client = new BoundClient(serviceSettings.SYSTEM_URL);
      const { access_token: token } = await this.openSession(i, { dpop: client.proof('POST', '/login') });
      this.bound.push({ client, token });
    }
  }

  /** More than the service answers in a trial. */
  boundRequests(count = 25_000) {
    return Array.from({ length: count }, (_, i) => {
      const { client, token } = this.bound[i % this.bound.length];
      const proof = { authorization: `DPoP ${token}`, dpop: client.proof('GET', '/user/me', token) };
      return text('GET', '/user/me', { ...proof, 'x-forwarded-for': addressOf(i) });
    });
  }

  /** More access tokens than the service remembers, so that each request needs the whole check of its token. */
  async prepareManyTokens() {
    if (!this.calls.me) return;
    const tokens = [];
    while (tokens.length < 8192) {
      tokens.push(...(await Promise.all(Array.from({ length: 32 }, (_, i) => this.refreshed(tokens.length + i)))));
    }
    this.requests.meMany = tokens.map((token, i) => this.calls.me({ access_token: token }, addressOf(i)));
  }

  async refreshed(i) {
    const { refresh_token: token } = this.sessions[i % this.sessions.length];
    const answer = await fetch(`http://127.0.0.1:${this.port}/refresh`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': addressOf(i) },
    });
    const body = await answer.json();
    return (body.data ?? body).access_token;
  }

  async openSession(i, headers = {}) {
    const [head, body] = this.login(i).split('\r\n\r\n');
    const path = head.split(' ')[1];
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: `http://127.0.0.1:${this.port}`, ...headers },
      body,
    });
    const data = await answer.json();
    if (answer.status !== 200) throw new Error(`${this.name}: login answered ${answer.status} ${JSON.stringify(data)}`);
    return this.session(answer, data);
  }
}

const ownRequests = {
  login: (i) =>
    json(
      '/login',
      { username: `user${i}`, password, captcha_token: captchaToken },
      { 'x-forwarded-for': addressOf(i) },
    ),
  session: (_answer, body) => body.data ?? body,
  calls: {
    refresh: ({ refresh_token: token }, address) =>
      text('POST', '/refresh', { authorization: `Bearer ${token}`, 'x-forwarded-for': address }),
    me: ({ access_token: token }, address) =>
      text('GET', '/user/me', { authorization: `Bearer ${token}`, 'x-forwarded-for': address }),
  },
};

/** One service asks from one address about all tokens. */
function introspect({ access_token: token }) {
  const authorization = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  return text('POST', '/introspect', headers, `token=${token}`);
}

/** One proxy asks from one address about all tokens. */
const verify = ({ access_token: token }) => text('GET', '/verify', { authorization: `Bearer ${token}` });

/** A request as it goes over the connection. */
export function text(method, path, headers, body = '') {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'POST' ? `content-length: ${Buffer.byteLength(body)}\r\n` : '';
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`;
}

function json(path, body, headers = {}) {
  return text('POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
}

/** Uses the SEQUENCE engine of MariaDB, which creates a million users in seconds. All users have the same password. */
async function ownUsers(users) {
  const digest = await hash(password, { cost: 10 });
  return `
    INSERT INTO users (uid, login_name, login_name_key, email, email_key, nickname, nickname_key, password,
        salt, tenant_id, created_at)
      SELECT UUID(), CONCAT('user', seq), CONCAT('user', seq), CONCAT('user', seq, '@example.com'),
             CONCAT('user', seq, '@example.com'), CONCAT('User ', seq), CONCAT('user ', seq), '${digest}', '${digest.slice(0, 29)}', 'root', UTC_TIMESTAMP(3)
      FROM seq_0_to_${users - 1};
    INSERT INTO user_change_pwd_logs (user_id, type, password, created_at)
      SELECT uid, 0, password, created_at FROM users;`;
}
