#!/usr/bin/env node
// node bench/groups.mjs [SECONDS] [ROUNDS]: what groups cost the two answers that name them, GET /user/me and POST /introspect: users
// in no group beside users in 200, of the same process and in turns. It writes results/groups.json. Run `npm run build:server` first.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { service } from './lib/contestants.mjs';
import { startLoad } from './lib/load.mjs';
import { startMariaDb } from './lib/mariadb.mjs';
import { figure, markdownTable } from './lib/markdown.mjs';

const [seconds, rounds] = [Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 5)];
const each = 32;
const groups = 200;

const directory = mkdtempSync(join(tmpdir(), 'bench-groups-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

const db = await startMariaDb(join(directory, 'db'));
await db.run('CREATE DATABASE service CHARACTER SET utf8mb4 COLLATE utf8mb4_bin');
const one = service({ db, directory: join(directory, 'service') });
const load = startLoad(directory);
try {
  await one.seed(2 * each);
  await db.run(
    `INSERT INTO user_groups (id, tenant_id, name, name_key, source, version, created_at, changed_at)
       SELECT UUID(), 'root', CONCAT('Department ', seq), CONCAT('department ', seq), 'scim', 1, UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)
       FROM seq_1_to_${groups};
     INSERT INTO user_group_members (group_id, user_id, added_at)
       SELECT g.id, u.uid, UTC_TIMESTAMP(3) FROM user_groups g
       JOIN users u ON CAST(SUBSTR(u.login_name, 5) AS UNSIGNED) >= ${each};
     UPDATE users SET in_groups = 1 WHERE uid IN (SELECT user_id FROM user_group_members);
     ANALYZE TABLE users, user_groups, user_group_members;`,
    [],
    'service',
  );
  await one.start();
  await one.prepare(2 * each, 2 * each);
  const rates = {};
  for (let round = 0; round < rounds; round++) {
    for (const answer of ['me', 'introspect']) {
      const both = round % 2 === 0 ? ['none', 'many'] : ['many', 'none'];
      for (const kind of both) {
        const requests = requestsOf(answer, kind);
        await load.closed(one.port, 1, [{ requests, concurrency: each }]);
        const [{ rate, failed }] = await load.closed(one.port, seconds, [{ requests, concurrency: each }]);
        if (failed > 0) throw new Error(`${failed} answers of ${answer} failed`);
        ((rates[answer] ??= {})[kind] ??= []).push(rate);
      }
    }
  }
  const result = Object.entries(rates).map(([answer, { none, many }]) => {
    const ratios = none.map((rate, round) => many[round] / rate);
    return { answer, none: median(none), many: median(many), ratio: median(ratios), ratios };
  });
  const machine = { cores: availableParallelism(), node: process.version, loadAverage: loadavg()[0] };
  const settings = { seconds, rounds, clients: each, groups };
  const file = { at: new Date().toISOString(), machine, settings, answers: result };
  writeFileSync(resolve(import.meta.dirname, 'results/groups.json'), `${JSON.stringify(file, null, 2)}\n`);
  const rows = result.map(({ answer, none, many, ratio }) => [answer, ...[none, many, ratio].map(figure)]);
  console.log(markdownTable(['answer', 'in no group, a second', `in ${groups} groups, a second`, 'ratio'], rows));
} finally {
  load.stop();
  await one.stop('SIGKILL');
  await db.child.stop();
}

/** The sessions are opened in the order of the users, and the requests repeat that order. */
function requestsOf(answer, kind) {
  const isOfMany = (index) => index % (2 * each) >= each;
  return one.requests[answer].filter((_, index) => isOfMany(index) === (kind === 'many'));
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}
