#!/usr/bin/env node
// node bench/scim-page.mjs [--rounds N] [--seconds N]: a page of 100 users by SCIM, compared with one SELECT and JSON in the same run.
// Run `npm run build:server` first.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { Contestant, service } from './lib/contestants.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { markdownTable } from './lib/markdown.mjs';
import { median } from './lib/report.mjs';

const number = (value) => ({ type: 'string', default: String(value) });
const { values } = parseArgs({ options: { rounds: number(5), seconds: number(4) } });
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const [users, count, lanes] = [5000, 100, 8];

const directory = mkdtempSync(join(tmpdir(), 'bench-scim-page-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const own = service({ db, directory: join(directory, 'service'), settings: { SCIM: 'on' } });
const bare = new Contestant({
  name: 'SELECT and JSON',
  directory: join(directory, 'bare'),
  command: [resolve(import.meta.dirname, 'servers/bare-users.mjs')],
  env: { DATABASE_URL: db.urlOf('service') },
});
const contestants = [own, bare];
try {
  await own.seed(users);
  const cli = [resolve(import.meta.dirname, '../dist/src/cli.js'), 'client', 'create', 'bench', '--scim', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, cli, { env: { PATH: process.env.PATH, ...own.env } });
  const headers = { authorization: `Bearer ${JSON.parse(stdout).token}` };
  for (const contestant of contestants) await contestant.start();
  const trials = [];
  for (let round = 0; round <= rounds; round++) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    const trial = {};
    for (const one of order) trial[one.name] = await load(one, headers);
    // The first round warms up.
    if (round > 0) trials.push(trial);
  }
  const lines = contestants.map(({ name }) => [
    name,
    ...['rate', 'cpu'].flatMap((key) => [
      median(trials.map((trial) => trial[name][key])).toFixed(2),
      median(trials.map((trial) => trial[name][key] / trial[bare.name][key])).toFixed(2),
    ]),
  ]);
  console.log(markdownTable(['server', 'pages per second', 'of SELECT', 'CPU ms', 'of SELECT'], lines));
  console.log(`${rounds} rounds of ${seconds} s, load average ${loadavg()[0].toFixed(1)}`);
} finally {
  await Promise.all(contestants.filter(({ child }) => child?.alive).map((one) => one.stop('SIGKILL')));
  await db.child.stop();
}
process.exit(0);

/** Clients that ask for page after page. */
async function load(one, headers) {
  const [before, begun] = [one.cpuMs, performance.now()];
  let pages = 0;
  const lane = async (_, first) => {
    for (let page = first; performance.now() - begun < seconds * 1000; page = (page + lanes) % (users / count)) {
      const url = `http://127.0.0.1:${one.port}/scim/v2/Users?startIndex=${page * count + 1}&count=${count}`;
      const { Resources } = await (await fetch(url, { headers })).json();
      if (Resources.length !== count) throw new Error(`${one.name}: ${Resources.length} users`);
      pages++;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { rate: (pages * 1000) / (performance.now() - begun), cpu: (one.cpuMs - before) / pages };
}
