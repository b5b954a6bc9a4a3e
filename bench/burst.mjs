#!/usr/bin/env node
// node bench/burst.mjs [--rounds N] [--cost N]: 100 logins at once beside a program per core that never sleeps. A service with the default
// bound of the wait is compared in turns with one that refuses none: how many of the 100 does the first one accept, and how many
// of the second one took less than the bound? Run `npm run build:server` first.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { start } from './lib/children.mjs';
import { password, service } from './lib/contestants.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { markdownTable } from './lib/markdown.mjs';
import { median } from './lib/report.mjs';

const text = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({ options: { rounds: text(5), cost: text(12) } });
const [burst, boundMs] = [100, 2000];

const directory = mkdtempSync(join(tmpdir(), 'bench-burst-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const withBound = (name, ms) =>
  service({
    ...{ name, db, directory: join(directory, name) },
    settings: { BCRYPT_COST: values.cost, HASH_QUEUE_MAX_WAIT_MS: String(ms) },
  });
const bounded = withBound('bounded', boundMs);
const patient = withBound('patient', 120_000);
const busy = [];
try {
  await bounded.seed(burst);
  await db.run('UPDATE users SET password = ?', [await hashOf(password)], 'service');
  for (const one of [bounded, patient]) await one.start();
  for (let i = 0; i < availableParallelism(); i++) {
    busy.push(start({ name: `busy ${i}`, args: ['-e', 'for (;;);'], log: join(directory, 'busy.log') }));
  }
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const trial = {};
    for (const one of round % 2 ? [patient, bounded] : [bounded, patient]) trial[one.name] = await logins(one);
    rounds.push(outcome(trial));
    console.log(rounds.at(-1));
  }
  const of = (field) => `${median(rounds.map((one) => one[field])).toFixed(2)}`;
  console.log(
    markdownTable(
      [
        'accepted of 100',
        'took less than the bound',
        'accepted of these',
        'slowest accepted, ms',
        'slowest refusal, ms',
      ],
      [['accepted', 'fitting', 'ratio', 'slowest', 'slowestRefusal'].map(of)],
    ),
  );
  console.log(`medians of ${rounds.length} rounds, cost ${values.cost}, load average ${loadavg()[0].toFixed(1)}`);
} finally {
  for (const child of busy) await child.stop('SIGKILL');
  for (const one of [bounded, patient]) if (one.child?.alive) await one.stop('SIGKILL');
  await db.child.stop();
}

async function hashOf(word) {
  const { hash } = await import('@node-rs/bcrypt');
  return hash(word, { cost: Number(values.cost) });
}

/** A login alone, as a calm minute would bring it, then 100 at once. */
async function logins(one) {
  for (let i = 0; i < 4; i++) await logIn(one, i);
  return Promise.all(Array.from({ length: burst }, (_, i) => logIn(one, i)));
}

async function logIn(one, i) {
  const begun = performance.now();
  const { status } = await fetch(`http://127.0.0.1:${one.port}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: `user${i}`, password, captcha_token: 'bench-captcha-token' }),
  });
  if (status !== 200 && status !== 503) throw new Error(`a login answered ${status}`);
  return { status, ms: performance.now() - begun };
}

/** A login fits whose answer came within the bound: the expected time includes that of its own hash. */
function outcome({ bounded: some, patient: all }) {
  const of = (list, status) => list.filter((one) => one.status === status).map(({ ms }) => ms);
  const inOrder = of(all, 200).sort((a, b) => a - b);
  const fitting = inOrder.filter((ms) => ms <= boundMs).length;
  const [accepted, refused] = [of(some, 200), of(some, 503)];
  return {
    accepted: accepted.length,
    fitting,
    ratio: accepted.length / fitting,
    slowest: Math.max(...accepted),
    slowestRefusal: Math.max(0, ...refused),
  };
}
