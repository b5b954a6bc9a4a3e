// `npm run check:migrations`: runs each migration since version 1.0.0 on 1,000,000 users and 2,000,000 rows of logs, beside
// logins, and writes migrations/measured.ts. It fails when a statement holds up a login for more than two seconds.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { createConnection } from 'mysql2/promise';
import type { MeasuredChange, MeasuredMigration } from '../../../migrations/measurement';
import type { Change } from '../../../src/platform/database/rehearsal/schema-changes';
import { MariaDb } from '../servers/mariadb';
import { fillTables } from './filled';
import { newMigrations, releasedMigrations, runWatched } from './law';
import { LoginBeside, longestWaitSeconds } from './login-beside';

/** A change that is faster has no place in the record, such as a single row. */
const countsFromSeconds = 0.05;

const size = { users: Number(process.argv[2] ?? 1_000_000), logs: 2 * Number(process.argv[2] ?? 1_000_000) };
const output = resolve(__dirname, '../../../migrations/measured.ts');

async function main(): Promise<void> {
  const server = await MariaDb.start([
    '--innodb-buffer-pool-size=2G',
    '--innodb-log-file-size=1G',
    '--innodb-file-per-table=1',
  ]);
  try {
    const url = await server.freshDatabase();
    await runWatched(url, releasedMigrations, () => undefined);
    const sql = await createConnection({ uri: url, timezone: 'Z' });
    const begun = performance.now();
    const rows = await fillTables(sql, size);
    say(`filled in ${rounded((performance.now() - begun) / 1000)} s: ${JSON.stringify(rows)}`);
    const [[found]] = (await sql.query('SELECT VERSION() AS version')) as unknown as [[{ version: string }]];
    await sql.end();
    const { measured, held } = await beside(url, size.users);
    const source = `MariaDB ${found.version}, ${availableParallelism()} busy processors, no wait for the disk`;
    await writeFile(output, textOf({ at: new Date().toISOString().slice(0, 10), source, rows, migrations: measured }));
    execFileSync('npx', ['prettier', '--write', output], { stdio: 'ignore' });
    if (held.length === 0) return;
    say(`a login waited for more than ${longestWaitSeconds} s:\n${held.join('\n')}`);
    process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

/** One migration after the other, while one user after the other logs in. */
async function beside(url: string, users: number) {
  let now = '';
  const measured: Record<string, MeasuredMigration> = {};
  const logins = await LoginBeside.start(url, users, () => now);
  try {
    for (const [n, one] of newMigrations.entries()) {
      const changes: Change[] = [];
      now = new one().name;
      logins.takeLongest();
      const begun = performance.now();
      await runWatched(url, [...releasedMigrations, ...newMigrations.slice(0, n + 1)], (change) => {
        changes.push(change);
      });
      const seconds = rounded((performance.now() - begun) / 1000);
      const longestLoginSeconds = rounded(logins.takeLongest());
      measured[now] = { seconds, longestLoginSeconds, changes: summary(changes, seconds) };
      say(`${now}: ${JSON.stringify(measured[now])}`);
    }
  } finally {
    await logins.stop();
  }
  return { measured, held: logins.held };
}

/** The statements of a batch are one change. Its time has the reads between them. */
function summary(changes: readonly Change[], seconds: number): MeasuredChange[] {
  const sums = new Map<string, { table: string; kind: MeasuredChange['kind']; seconds: number; statements: number }>();
  let rest = seconds;
  for (const { table, kind, seconds: took } of changes) {
    if (kind !== 'rows') rest -= took;
    if (kind === 'exclusive' || kind === 'instant') continue;
    const sum = sums.get(`${table} ${kind}`) ?? { table, kind, seconds: 0, statements: 0 };
    sums.set(`${table} ${kind}`, { ...sum, seconds: sum.seconds + took, statements: sum.statements + 1 });
  }
  return [...sums.values()]
    .map((one) => ({ ...one, seconds: rounded(one.kind === 'rows' && one.statements > 1 ? rest : one.seconds) }))
    .filter(({ seconds: took }) => took >= countsFromSeconds);
}

function textOf(measurement: object): string {
  return `import type { Measurement } from './measurement';

/** Written by \`npm run check:migrations\`. Estimates of \`upgrade --check\` come from here. */
export const measured: Measurement = ${JSON.stringify(measurement, null, 2)};
`;
}

const rounded = (seconds: number): number => Number(seconds.toPrecision(2));

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

void main();
