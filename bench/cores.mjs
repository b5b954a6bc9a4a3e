#!/usr/bin/env node
// node bench/cores.mjs: how the rates change with the hash threads and with a second process (docs/operations/sizing.md).
// Run `npm run build` first. Each round measures every configuration once.
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { service } from './lib/contestants.mjs';
import { startLoad } from './lib/load.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { median } from './lib/report.mjs';

const rounds = Number(process.argv[2] ?? 5);
const seconds = 3;
const configurations = [
  { processes: 1, threads: 1 },
  { processes: 1, threads: 2 },
  { processes: 1, threads: 4 },
  { processes: 2, threads: 1 },
  { processes: 2, threads: 2 },
];

const directory = mkdtempSync(join(tmpdir(), 'bench-cores-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const load = startLoad(directory);
const trials = configurations.map(() => ({ logins: [], refreshes: [], checks: [], memory: [] }));
const replica = (index, threads) =>
  service({ name: `replica${index}`, db, directory, settings: { HASH_THREADS: `${threads}` } });

await replica(0, 1).seed(500);
for (let round = 0; round < rounds; round++) {
  for (const [index, { processes, threads }] of configurations.entries()) {
    const replicas = Array.from({ length: processes }, (_, one) => replica(one, threads));
    for (const one of replicas) {
      await one.start();
      await one.prepare(500, 32);
    }
    const each = async (ask, requests) => {
      const concurrency = 32 / processes;
      const results = await Promise.all(
        replicas.map((one) => ask(one.port, seconds, [{ requests: requests(one), concurrency }])),
      );
      return results.reduce((sum, [{ rate }]) => sum + rate, 0);
    };
    await each(load.detailed, (one) => one.logins);
    trials[index].logins.push(await each(load.detailed, (one) => one.logins));
    await each(load.closed, (one) => one.requests.me);
    trials[index].refreshes.push(await each(load.closed, (one) => one.requests.refresh));
    trials[index].checks.push(await each(load.closed, (one) => one.requests.me));
    trials[index].memory.push(replicas.reduce((sum, { rss }) => sum + rss, 0));
    await Promise.all(replicas.map((one) => one.stop('SIGKILL')));
  }
}
load.stop();
await db.child.stop();

const base = trials[1];
console.log(
  `${availableParallelism()} processors, ${rounds} rounds; each rate as a ratio to one process with two threads of the same round`,
);
for (const [index, { processes, threads }] of configurations.entries()) {
  const ratio = (key) => median(trials[index][key].map((rate, round) => rate / base[key][round])).toFixed(2);
  console.log(
    `${processes} × ${threads} threads  logins ${ratio('logins')} (${median(trials[index].logins).toFixed(0)}/s)  ` +
      `refreshes ${ratio('refreshes')}  checks ${ratio('checks')}  ${median(trials[index].memory).toFixed(0)} MiB`,
  );
}
