#!/usr/bin/env node
// node bench/sqlite.mjs [ROUNDS]: the rates on SQLite with both values of SQLITE_SYNCHRONOUS (docs/operations/sizing.md).
// Run `npm run build` first.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashSync } from '@node-rs/bcrypt';
import Sqlite from 'better-sqlite3';
import { password, service } from './lib/contestants.mjs';
import { startLoad } from './lib/load.mjs';
import { median } from './lib/report.mjs';

const rounds = Number(process.argv[2] ?? 5);
const seconds = 3;
const users = 200;
const settings = ['full', 'normal'];

const directory = mkdtempSync(join(tmpdir(), 'bench-sqlite-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
const load = startLoad(directory);
const services = settings.map((synchronous) => seeded(synchronous));
const trials = settings.map(() => ({ logins: [], refreshes: [], checks: [] }));

for (let round = 0; round < rounds; round++) {
  for (const [index, one] of services.entries()) {
    await one.start();
    await one.prepare(users, 32);
    const rate = async (ask, requests) => (await ask(one.port, seconds, [{ requests, concurrency: 32 }]))[0].rate;
    trials[index].logins.push(await rate(load.detailed, one.logins));
    trials[index].refreshes.push(await rate(load.closed, one.requests.refresh));
    trials[index].checks.push(await rate(load.closed, one.requests.me));
    await one.stop('SIGKILL');
  }
}
load.stop();

console.log(`${rounds} rounds; each rate of the same round as a ratio to \`full\``);
for (const [index, synchronous] of settings.entries()) {
  const figures = Object.entries(trials[index]).map(([what, rates]) => {
    const ratio = median(rates.map((rate, round) => rate / trials[0][what][round])).toFixed(2);
    return `${what} ${ratio} (${median(rates).toFixed(0)}/s)`;
  });
  console.log(`${synchronous.padEnd(6)}  ${figures.join('  ')}`);
}

/** A service on a database file of its own, with users who all have the same password. */
function seeded(synchronous) {
  const file = join(directory, `${synchronous}.sqlite`);
  const one = service({
    name: synchronous,
    db: { urlOf: () => `sqlite:${file}` },
    directory: join(directory, synchronous),
    settings: { SQLITE_SYNCHRONOUS: synchronous },
  });
  const cli = one.command.at(-1).replace(/main\.js$/, 'cli.js');
  execFileSync(process.execPath, [cli, 'migrate'], { env: { PATH: process.env.PATH, ...one.env }, stdio: 'ignore' });
  const database = new Sqlite(file);
  const digest = hashSync(password, { cost: 10 });
  const insert = database.prepare(
    `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, tenant_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'root', ?)`,
  );
  database.transaction(() => {
    for (let i = 0; i < users; i++) {
      const [name, email] = [`user${i}`, `user${i}@example.com`];
      insert.run(
        `u-${i}`,
        name,
        name,
        email,
        email,
        digest,
        digest.slice(0, 29),
        new Date().toISOString().slice(0, -1).replace('T', ' '),
      );
    }
  })();
  database.close();
  return one;
}
