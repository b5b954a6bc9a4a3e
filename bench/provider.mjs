#!/usr/bin/env node
// node bench/provider.mjs [--rounds N] [--seconds N]: what an application costs the OpenID provider, at its token endpoint (a refresh, with a
// new ID token and a new refresh token) and at userinfo. It compares the service with `oidc-provider` alone on the same tables, and with the
// provider of better-auth, in the same run. Then 2,000 connections guess codes at the token endpoint. Run `npm run build:server` first.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { Agent, request as send } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { authorizationRequest, Browser, callback, newApplication } from './lib/code-flow.mjs';
import { betterAuth, Contestant, installBetterAuth, service, text } from './lib/contestants.mjs';
import { startLoad } from './lib/load.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { markdownTable } from './lib/markdown.mjs';
import { median } from './lib/report.mjs';

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({ options: { rounds: number(5), seconds: number(4) } });
const { rounds, seconds } = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]));
const users = 64;
const lanes = 16;
const kinds = ['token', 'userinfo'];
const agent = new Agent({ keepAlive: true, maxSockets: lanes });

await installBetterAuth();
const directory = mkdtempSync(join(tmpdir(), 'bench-provider-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
const db = await startMariaDb(join(directory, 'db'));
for (const name of ['service', 'bare', 'better_auth']) {
  await db.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

const place = (name) => ({ db, directory: join(directory, name) });
const client = { id: 'grafana', secret: randomBytes(32).toString('base64url') };
const own = service({ ...place('service'), settings: { OIDC: 'on', OIDC_PRIVATE_KEY: pem } });
const bare = new Contestant({
  name: 'oidc-provider',
  directory: join(directory, 'bare'),
  command: [resolve(import.meta.dirname, 'servers/oidc-provider.mjs')],
  env: {
    NODE_ENV: 'production',
    DATABASE_URL: db.urlOf('bare'),
    OIDC_PRIVATE_KEY: pem,
    CLIENT: JSON.stringify(client),
    COOKIE_SECRET: randomBytes(32).toString('base64url'),
  },
});
const rival = betterAuth(place('better-auth'));
rival.env.PROVIDER = 'on';
const contestants = [own, bare, rival];
/** Of each contestant: where it answers, its application, and what the application keeps of each user. */
const played = new Map();
try {
  await own.seed(users);
  const copied = ['users', 'oidc_records'].map((table) => `CREATE TABLE ${table} LIKE service.${table};`).join('\n');
  await db.run(`${copied}\nINSERT INTO users SELECT * FROM service.users;`, [], 'bare');
  await rival.seed(users);
  for (const contestant of contestants) await contestant.start();
  played.set(own, { token: '/oidc/token', userinfo: '/oidc/me', ...(await atService()) });
  const kept = await answer(bare, { path: '/signed-in' });
  played.set(bare, { token: '/token', userinfo: '/me', application: client, kept });
  const oauth2 = '/api/auth/oauth2';
  played.set(rival, { token: `${oauth2}/token`, userinfo: `${oauth2}/userinfo`, ...(await atBetterAuth(oauth2)) });

  const trials = [];
  for (let round = 0; round <= rounds; round++) {
    // Each round begins with another server, so that the effect of the order hits all servers alike.
    const order = contestants.map((_, i) => contestants[(i + round) % contestants.length]);
    for (const kind of kinds) {
      for (const one of order) {
        const figures = await trial(one, kind);
        // The first round warms up.
        if (round > 0) trials.push({ round, kind, name: one.name, ...figures });
        console.error(`${round} ${kind} ${one.name} ${figures.rate.toFixed(0)}/s ${figures.cpu.toFixed(2)} ms`);
      }
    }
  }
  const floods = await floodsOf(own);
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const result = { at: new Date().toISOString(), machine, settings: { rounds, seconds, users, lanes }, trials, floods };
  writeFileSync(resolve(import.meta.dirname, 'results/provider.json'), `${JSON.stringify(result, null, 2)}\n`);
  console.log(
    markdownTable(['endpoint', 'server', 'per second', 'ours to it', 'CPU ms', 'ours to it'], compared(trials)),
  );
} finally {
  await Promise.all(contestants.filter(({ child }) => child?.alive).map((one) => one.stop('SIGTERM')));
  await db.child.stop();
}
process.exit(0);

async function atService() {
  const application = await newApplication(db);
  await own.prepare(users, users);
  const kept = [];
  for (const { access_token: token } of own.sessions) {
    const browser = new Browser(own.port);
    await browser.signIn(application, token);
    kept.push(browser.tokens);
  }
  return { application, kept };
}

async function atBetterAuth(oauth2) {
  const cookie = await rival.openSession(0);
  const application = await answer(rival, { path: '/application', headers: { cookie } });
  const kept = [];
  for (let i = 0; i < users; i++) {
    const session = await rival.openSession(i);
    const { verifier, query } = authorizationRequest(application.id, 'openid profile email offline_access');
    const { url } = await answer(rival, {
      path: `${oauth2}/authorize?${query}`,
      headers: { cookie: session, 'sec-fetch-mode': 'cors' },
    });
    const code = new URL(url).searchParams.get('code');
    const form = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
    const { access_token: access, refresh_token: refresh } = await answer(
      rival,
      tokenRequest({ token: `${oauth2}/token`, application }, form),
    );
    kept.push({ access, refresh });
  }
  return { application, kept };
}

/** Clients that send their next request when they have their answer, each with the tokens of some users in turn. */
async function trial(one, kind) {
  const { kept, ...place } = played.get(one);
  const before = one.cpuMs;
  const begun = performance.now();
  let count = 0;
  const lane = async (_, first) => {
    for (let i = first; performance.now() - begun < seconds * 1000; i = (i + lanes) % users) {
      const tokens = kept[i];
      if (kind === 'userinfo') {
        await answer(one, { path: place.userinfo, headers: { authorization: `Bearer ${tokens.access}` } });
      } else {
        const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh };
        const body = await answer(one, tokenRequest(place, form));
        if (!body.id_token || body.refresh_token === tokens.refresh) throw new Error(`${one.name} answered less`);
        Object.assign(tokens, { access: body.access_token, refresh: body.refresh_token });
      }
      count++;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { rate: (count * 1000) / (performance.now() - begun), cpu: (one.cpuMs - before) / count };
}

/** What 2,000 connections that guess codes at the token endpoint get answered, and how long one other client waits for `/user/me`. */
async function floodsOf(one) {
  const { application } = played.get(one);
  const form = { grant_type: 'authorization_code', redirect_uri: callback, code_verifier: 'v'.repeat(43) };
  const guesses = Array.from({ length: 1000 }, () => {
    const code = randomBytes(32).toString('base64url');
    const { path, headers, body } = tokenRequest({ token: '/oidc/token', application }, { ...form, code });
    return text('POST', path, headers, body);
  });
  const load = startLoad(directory);
  const floods = [];
  for (let round = 0; round < rounds; round++) {
    // The other client is connected before the flood, as through an ingress.
    const beside = load.closed(one.port, seconds + 1, [{ requests: one.requests.me, concurrency: 1 }]);
    await pause(500);
    const [flood] = await load.closed(one.port, seconds, [{ requests: guesses, concurrency: 2000 }]);
    const [me] = await beside;
    floods.push({ refused: flood.failed / flood.seconds, me: { count: me.count, p50: me.p50, p99: me.p99 } });
    console.error(
      `2000 connections that guess codes: ${floods.at(-1).refused.toFixed(0)} refused/s, ` +
        `/user/me ${me.count} times, p50 ${me.p50.toFixed(0)} p99 ${me.p99.toFixed(0)} ms`,
    );
    await pause(1500);
  }
  load.stop();
  return floods;
}

function tokenRequest({ token: path, application: { id, secret } }, form) {
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', path, headers, body: `${new URLSearchParams(form)}` };
}

/** @throws Error when the answer is not 200 */
function answer({ name, port, child }, { method = 'GET', path, headers, body }) {
  return new Promise((resolve, reject) => {
    const request = send({ agent, host: '127.0.0.1', port, method, path, headers }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`${name} answered ${response.statusCode} ${text}`));
      });
    });
    request.on('error', ({ message }) => reject(new Error(`${name}: ${message}\n${child.tail()}`)));
    request.end(body);
  });
}

/** The median over the rounds of what each server does, and of its ratio to the service in the same round. */
function compared(trials) {
  const of = (kind, name, figure) => trials.filter((one) => one.kind === kind && one.name === name).map(figure);
  return kinds.flatMap((kind) =>
    contestants.map(({ name }) => {
      const median2 = (key) => {
        const [ours, theirs] = [own.name, name].map((each) => of(kind, each, (one) => one[key]));
        return [
          median(theirs).toFixed(key === 'rate' ? 0 : 2),
          median(ours.map((value, i) => value / theirs[i])).toFixed(2),
        ];
      };
      return [kind, name, ...median2('rate'), ...median2('cpu')];
    }),
  );
}
