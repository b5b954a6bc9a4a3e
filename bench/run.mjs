#!/usr/bin/env node
// npm run bench [-- --quick]: measures the built service against the reference and better-auth (bench/README.md).
import { execFile, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { betterAuth, emptyNest, installBetterAuth, reference, service } from './lib/contestants.mjs';
import { freePort, start } from './lib/children.mjs';
import { startLoad } from './lib/load.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { plot } from './lib/plot.mjs';
import { evaluate, median, table } from './lib/report.mjs';
import { scenarios } from './lib/scenarios.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    also: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    users: { type: 'string', default: '500' },
    tokens: { type: 'string', default: '0' },
    without: { type: 'string', default: '' },
    'cpu-prof': { type: 'string' },
    'node-args': { type: 'string' },
    keep: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const rounds = Number(options.rounds ?? (options.quick ? 2 : 5));
// On a busy machine the run makes fewer rounds instead of taking longer, unless --rounds is given.
const budgetMs = options.rounds === undefined ? (options.quick ? 100 : 600) * 1000 : Infinity;
// Enough sessions that none is refreshed hundreds of times: such a session is slower, and after 950 refreshes its first tokens end.
const openSessions = 256;
const seconds = Number(options.seconds ?? (options.quick ? 2 : 4));
const users = Number(options.users);
const tokens = Number(options.tokens);
const only = options.only?.split(',');
const wanted = (key) => only === undefined || only.includes(key);
const without = options.without.split(',');

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'bench-'));
const began = performance.now();
const ticks = processorTicks();
const say = (line) => console.log(`${String(Math.round((performance.now() - began) / 1000)).padStart(4)} s  ${line}`);
if (!options.keep) process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

if (options.keep) say(`keeping the files in ${directory}`);
say('building the service');
if (spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' }).status !== 0) process.exit(1);
if (
  wanted('jwks') &&
  spawnSync('npm', ['run', '--silent', 'build:guard'], { cwd: root, stdio: 'inherit' }).status !== 0
)
  process.exit(1);
if (!without.includes('better-auth')) await installBetterAuth();

say('starting MariaDB (innodb_flush_log_at_trx_commit=1)');
const db = await startMariaDb(join(directory, 'db'), tokens > 1_000_000 ? '10G' : undefined);
for (const name of ['service', 'small', 'reference', 'better_auth']) {
  await db.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`);
}

const place = (name) => ({ db, directory: join(directory, name) });
const profile = options['cpu-prof'];
const extra = options['node-args']?.split(' ') ?? [];
const profiled = (name) => (profile ? ['--cpu-prof', `--cpu-prof-dir=${resolve(profile, name)}`] : extra);
const main = service({ ...place('service'), nodeArgs: profiled('service') });
const builds = options.also.map((also) => {
  const [, name, program] = /^(\w+)=(.+)$/.exec(also);
  return service({ ...place(name), name, program });
});
const contestants = [main, ...builds];
// The same program on almost empty tables shows what large tables cost.
if (tokens > 0) contestants.push(service({ ...place('small'), name: 'small', database: 'small' }));
if (!without.includes('reference'))
  contestants.push(reference({ ...place('reference'), nodeArgs: profiled('reference') }));
if (!without.includes('better-auth')) contestants.push(betterAuth(place('better-auth')));

const load = startLoad(directory);
try {
  const result = await measure();
  await Promise.all(contestants.map((contestant) => contestant.stop()));
  if (wanted('neighbours')) result.trials.push(...(await neighbours()));
  if (wanted('jwks')) result.trials.push(...(await localChecks()));
  result.overload = wanted('overload') ? await overload() : undefined;
  result.start = wanted('start') ? await starts() : undefined;
  result.footprint = only?.includes('footprint') ? await footprints() : undefined;
  const figures = evaluate(result);
  console.log(`\n${table(result, figures)}`);
  const out = resolve(root, options.out ?? (only ? join(directory, 'partial') : 'bench/results'));
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, 'latest.json'), `${JSON.stringify({ ...result, figures }, null, 2)}\n`);
  if (only === undefined) writeFileSync(join(out, 'latest.svg'), plot(result, figures));
} finally {
  load.stop();
  await Promise.all(contestants.filter(({ child }) => child?.alive).map((contestant) => contestant.stop('SIGKILL')));
  await db.child.stop();
}

/** better-auth closes connections in a way that wrk counts as errors, and makes too few answers to need it. */
function generatorFor(busy, { name }) {
  return busy && name !== 'better-auth' ? load.closed : load.detailed;
}

async function measure() {
  say(`seeding ${users} users`);
  // Other builds of the service share its tables. The reference copies their structure.
  for (const contestant of contestants) {
    if (!builds.includes(contestant)) await contestant.seed(contestant.name === 'small' ? 500 : users);
  }
  if (tokens > 0) await manyTokens();
  await Promise.all(contestants.map((contestant) => contestant.start()));
  await pause(1000);
  const memory = Object.fromEntries(contestants.map(({ name, rss }) => [name, { idle: rss, load: 0, rounds: [] }]));
  for (const contestant of contestants) {
    await contestant.prepare(Math.min(users, 500), openSessions);
    if (wanted('meMany')) await contestant.prepareManyTokens();
    if (wanted('bound32')) await contestant.prepareBound(32);
  }
  const sampler = setInterval(() => {
    for (const { name, rss } of contestants) memory[name].load = Math.max(memory[name].load, rss ?? 0);
  }, 250);

  const chosen = scenarios.filter(({ key }) => wanted(key));
  say('warming up');
  for (const { key, lanes } of chosen) {
    if (key.startsWith('login')) continue;
    for (const contestant of contestants) {
      const some = lanes(contestant);
      if (some)
        await load.closed(
          contestant.port,
          1,
          some.slice(0, 1).map((lane) => ({ ...lane, concurrency: 32 })),
        );
    }
  }
  const trials = [];
  let round = 0;
  for (const first = performance.now(); round < rounds; round++) {
    const longest = round === 0 ? 0 : (performance.now() - first) / round;
    if (performance.now() - began + longest > budgetMs) break;
    for (const { key, title, lanes, busy } of chosen) {
      // Each round begins with another server, so that the effect of the order hits all servers alike.
      const order = contestants.map((_, i) => contestants[(i + round) % contestants.length]);
      for (const contestant of order) {
        const asked = lanes(contestant);
        if (!asked) continue;
        const before = contestant.cpuMs;
        const [first, second] = await generatorFor(busy, contestant)(contestant.port, seconds, asked);
        const answers = first.count + (second?.count ?? 0);
        const cpu = (contestant.cpuMs - before) / answers;
        trials.push({ round, key, name: contestant.name, ...first, cpu, beside: second?.rate });
        const bad = first.failed === 0 ? '' : `  ${first.failed} failed`;
        say(
          `round ${round + 1}/${rounds}  ${title.padEnd(29)} ${contestant.name.padEnd(12)} ` +
            `${first.rate.toFixed(1).padStart(8)}/s  p50 ${first.p50.toFixed(1)} ms  p99 ${first.p99.toFixed(1)} ms${bad}`,
        );
      }
    }
    for (const { name, rss } of contestants) memory[name].rounds.push(rss);
  }
  clearInterval(sampler);
  return {
    at: new Date().toISOString(),
    machine: {
      cores: availableParallelism(),
      node: process.version,
      generator: load.generator,
      loadAverage: loadavg()[0],
      stolen: stolenSince(ticks),
    },
    settings: { rounds: round, seconds, users, tokens },
    trials,
    memory,
  };
}

/**
 * More logins than can be hashed, with the default of HASH_QUEUE_MAX_WAIT_MS. Open loop: five times the capacity,
 * whether the server keeps up or not. Closed loop: 300 clients that come back at once, and one that only checks its session.
 * The closed loop runs twice, because wrk cannot tell the latency of refusals from that of accepted logins.
 */
async function overload() {
  const settings = { HASH_QUEUE_MAX_WAIT_MS: undefined };
  const one = service({ ...place('overload'), name: 'service', settings });
  await one.start();
  try {
    await one.prepare(Math.min(users, 500), 4);
    const logins = { requests: one.logins, concurrency: 32 };
    await load.closed(one.port, 2, [logins]);
    const rounds = [];
    for (let round = 0; round < (options.quick ? 2 : 5); round++) {
      const [normal] = await load.closed(one.port, 5, [logins]);
      const [crowd, me] = await load.closed(one.port, 5, [
        { ...logins, concurrency: 300 },
        { requests: one.requests.me, concurrency: 1 },
      ]);
      await pause(1500);
      const [{ byStatus }] = await load.detailed(one.port, 5, [{ ...logins, concurrency: 300 }]);
      await pause(1500);
      const refused = byStatus[503];
      rounds.push({ normal, crowd, refused, me, memory: one.rss });
      say(
        `overload, 300 clients: ${crowd.rate.toFixed(1)} accepted/s of ${normal.rate.toFixed(1)}, ${(crowd.failed / crowd.seconds).toFixed(0)} ` +
          `refused/s, p50 ${refused?.p50.toFixed(0)} p99 ${refused?.p99.toFixed(0)} ms, /user/me p99 ${me.p99.toFixed(0)} ms, ${one.rss.toFixed(0)} MiB`,
      );
    }
    const floods = await floodsOf(one);
    const normal = { ...rounds.at(-1).normal, rate: median(rounds.map(({ normal }) => normal.rate)) };
    const rate = Math.round(5 * normal.rate);
    const [storm] = await load.detailed(one.port, options.quick ? 10 : 30, [{ requests: one.logins, rate }]);
    await pause(4000);
    const [after] = await load.closed(one.port, 5, [logins]);
    say(
      `overload, ${rate} logins/s offered: accepted p95 ${storm.p95.toFixed(0)} ms, refused p99 ${storm.byStatus[503]?.p99.toFixed(1)} ms, after it ${after.rate.toFixed(1)}/s`,
    );
    return { normal, rounds, floods, storm, after };
  } finally {
    await one.stop('SIGKILL');
  }
}

/** How many requests 2,000 connections of one kind get answered, and how long one other client waits for `/user/me`. */
async function floodsOf(one) {
  const { port, logins } = one;
  const { me: own, verify } = one.requests;
  const me = { requests: own, concurrency: 1 };
  // A refreshed session drops its oldest access tokens. So the other client uses a session that the flood does not refresh.
  await one.prepare(Math.min(users, 500), 32);
  const { refresh } = one.requests;
  const kinds = Object.entries({ logins, refresh, verify }).map(([key, requests]) => ({
    key,
    requests,
    concurrency: 2000,
  }));
  const floods = [];
  for (let round = 0; round < (options.quick ? 2 : 5); round++) {
    for (const { key, ...lane } of kinds) {
      // The other client is connected before the flood, as through an ingress: Node accepts 2,000 new connections in seconds.
      const beside = load.closed(port, 6, [me]);
      await pause(500);
      const [flood] = await load.closed(port, 5, [lane]);
      const [other] = await beside;
      floods.push({ key, flood, me: other });
      const failed = ({ byStatus = {} }) =>
        Object.entries(byStatus).flatMap(([status, { count }]) => (status === '200' ? [] : [`${count} × ${status}`]));
      say(
        `overload, 2000 connections with ${key}: ${flood.rate.toFixed(1)}/s ${failed(flood)}, /user/me ${other.count} times ` +
          `${failed(other)}, p50 ${other.p50?.toFixed(0)} p99 ${other.p99?.toFixed(0)} ms`,
      );
      await pause(1500);
    }
  }
  return floods;
}

/** Logins while as many other programs as there are cores never sleep. */
async function neighbours() {
  const trials = [];
  const both = contestants.filter(({ name }) => ['service', 'reference'].includes(name));
  for (const one of both) {
    await one.start();
    await one.prepare(Math.min(users, 500), 4);
    await load.closed(one.port, 2, [{ requests: one.logins, concurrency: 32 }]);
  }
  for (let round = 0; round < (options.quick ? 2 : 5); round++) {
    for (const one of round % 2 ? both.toReversed() : both) {
      const busy = Array.from({ length: availableParallelism() }, (_, i) =>
        start({ name: `busy ${i}`, args: ['-e', 'for (;;);'], log: join(directory, 'busy.log') }),
      );
      const [logins] = await load.closed(one.port, 4, [{ requests: one.logins, concurrency: 32 }]);
      await Promise.all(busy.map((child) => child.stop('SIGKILL')));
      trials.push({ round, key: 'neighbours', name: one.name, ...logins });
      say(`beside busy programs: ${one.name.padEnd(12)} ${logins.rate.toFixed(1)} logins/s`);
    }
  }
  await Promise.all(both.map((one) => one.stop()));
  return trials;
}

/** Checks of access tokens by @portal-auth/guard with the public keys, beside the session checks of the service. */
async function localChecks() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const settings = {
    JWT_ALGORITHM: 'ES256',
    JWT_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    JWT_SECRET: undefined,
  };
  const one = service({ ...place('jwks'), name: 'service', settings });
  const trials = [];
  await one.start();
  try {
    await one.prepare(Math.min(users, 500), 32);
    const checks = {
      issuer: one.env.SYSTEM_URL,
      jwksUrl: `http://127.0.0.1:${one.port}/.well-known/jwks.json`,
      tokens: one.sessions.map(({ access_token: token }) => token),
      seconds,
    };
    for (let round = 0; round < rounds; round++) {
      const [me] = await load.closed(one.port, seconds, [{ requests: one.requests.me, concurrency: 32 }]);
      const { stdout } = await run(process.execPath, [join(root, 'bench/servers/guard-checks.mjs')], {
        env: { PATH: process.env.PATH, CHECKS: JSON.stringify(checks) },
      });
      const local = JSON.parse(stdout);
      trials.push({ round, key: 'jwks', name: 'service', ...me }, { round, key: 'jwks', name: 'guard', ...local });
      say(`token checks: ${me.rate.toFixed(0)}/s by GET /user/me, ${local.rate.toFixed(0)}/s by the guard with keys`);
    }
  } finally {
    await one.stop();
  }
  return trials;
}

/** Starts the service, its other builds, and the empty Nest program in turns. */
async function starts() {
  const ours = [main, ...builds].map(({ name, program }) => service({ ...place(`start-${name}`), name, program }));
  const all = [...ours, await emptyNest(place('empty'))];
  const times = Object.fromEntries(all.map(({ name }) => [name, []]));
  for (let i = 0; i < (options.quick ? 3 : 7); i++) {
    for (const one of all) {
      times[one.name].push(await one.start());
      await one.stop('SIGKILL');
    }
  }
  const shown = Object.entries(times).map(([name, some]) => `${name} ${some.map(Math.round)} ms`);
  say(`start to ready: ${shown.join(', ')}`);
  return times;
}

/**
 * Starts the service and its other builds in turns, a new process each time. A round has five starts of each build: the median
 * time to the first ready answer, and the processor time until then. The last process of a build stays for the resident memory
 * one second later, and for its highest value while 32 clients log in and then check their sessions.
 */
async function footprints() {
  const rows = [];
  const all = [main, ...builds].map(({ name, program }) => service({ ...place(`footprint-${name}`), name, program }));
  all.push(service({ ...place('footprint-everything'), name: 'everything', settings: await everythingOn() }));
  for (let round = 0; round < rounds; round++) {
    const order = all.map((_, i) => all[(i + round) % all.length]);
    const starts = new Map(order.map((one) => [one, []]));
    for (let i = 0; i < 5; i++) {
      for (const one of order) {
        starts.get(one).push({ ms: await one.start(), cpuMs: one.cpuMs });
        await one.stop('SIGKILL');
      }
    }
    for (const one of order) {
      await one.start();
      await pause(1000);
      const idle = one.rss;
      let highest = idle;
      const sampler = setInterval(() => (highest = Math.max(highest, one.rss)), 100);
      await one.prepare(Math.min(users, 500), 32);
      await load.closed(one.port, seconds, [{ requests: one.logins, concurrency: 32 }]);
      await load.closed(one.port, seconds, [{ requests: one.requests.me, concurrency: 32 }]);
      clearInterval(sampler);
      await one.stop('SIGKILL');
      const startMs = median(starts.get(one).map(({ ms }) => ms));
      const startCpuMs = median(starts.get(one).map(({ cpuMs }) => cpuMs));
      rows.push({ round, name: one.name, startMs, startCpuMs, idle, highest });
      say(
        `round ${round + 1}/${rounds}  footprint  ${one.name.padEnd(12)} start ${startMs.toFixed(0)} ms, ` +
          `${idle.toFixed(1)} MiB after the start, ${highest.toFixed(1)} MiB under load`,
      );
    }
  }
  return rows;
}

/** Switches everything on that is off by default. The address of the webhook has no listener, so its events wait. */
async function everythingOn() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    ...Object.fromEntries(['PORTAL', 'ADMIN_API', 'OIDC', 'SCIM', 'EVENT_RECEIVERS'].map((name) => [name, 'on'])),
    OIDC_PRIVATE_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    MFA_TRUSTED_DEVICE_DAYS: '30',
    METRICS_PORT: `${await freePort()}`,
    AUDIT_STREAM: 'stdout',
    WEBHOOK_URL: 'https://127.0.0.1:9/events',
    WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  };
}

/** Fills the token tables as after years of use, with the SEQUENCE engine of MariaDB. */
async function manyTokens() {
  for (const database of ['service', 'reference'].filter((name) => !without.includes(name))) {
    const step = 1_000_000;
    for (let done = 0; done < tokens; done += step) {
      say(`seeding ${tokens} tokens of the ${database}: ${done}`);
      await db.run(
        `INSERT INTO login_tokens (jti, token_type, user_identity, is_revoked, expires, sid, credential_version, created_at)
           SELECT UUID(), 'access', u.uid, 0, UTC_TIMESTAMP(3) + INTERVAL 7 DAY, UUID(), 0, UTC_TIMESTAMP(3)
           FROM (SELECT uid FROM users LIMIT ${Math.min(users, step)}) u
           JOIN seq_1_to_${Math.ceil(Math.min(tokens, step) / Math.min(users, step))} s`,
        [],
        database,
      );
    }
    await db.run('ANALYZE TABLE users, login_tokens', [], database);
  }
}

/** Processor time of the whole machine so far, and the part that the hypervisor gave to others (proc(5), `cpu`). */
function processorTicks() {
  if (!existsSync('/proc/stat')) return undefined;
  const [first] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, idle, iowait, irq, softirq, stolen] = first.split(/ +/).slice(1).map(Number);
  return { stolen, all: user + nice + system + idle + iowait + irq + softirq + stolen };
}

/** The share of processor time since `before` that the hypervisor gave to others, from 0 to 1. */
function stolenSince(before) {
  const now = processorTicks();
  return now && (now.stolen - before.stolen) / (now.all - before.all);
}
