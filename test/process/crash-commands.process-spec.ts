import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { migrations } from '../../migrations/all';
import { migrate } from '../../src/platform/database/migrator';
import { KillProxy, type KillPoint } from '../support/crash/kill-proxy';
import { SeededNumbers } from '../support/seeded-numbers';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import type { Exit } from '../support/servers/guarded-child';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { patientDatabase, testSettings } from '../support/settings';

/** `CRASH_KILLS=100 CRASH_SEED=7` makes a longer run of each test, and another one. */
const kills = Number(process.env.CRASH_KILLS ?? 6);
const seed = Number(process.env.CRASH_SEED ?? 1);

const cli = 'dist/src/cli.js';
const people = 1000;
/** Rows that an adoption writes in one transaction. */
const batch = 200;
const bcrypt = '$2a$04$abcdefghijklmnopqrstuuW9jzJBfVhCDTq6PZ0CZpEhVSFJ8bLUK';

describe('a command that is killed at random moments', () => {
  let directory: string;
  const databases = () => MariaDbDatabases.shared();
  const random = new SeededNumbers(seed);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'crash-commands-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const planOf = async (source: string) => {
    const file = join(directory, `${source}.json`);
    const columns = { uid: 'id', login_name: 'name', email: 'mail', password_hash: 'pw' };
    await writeFile(file, JSON.stringify({ source, columns, hash: { algorithm: 'bcrypt' } }));
    return file;
  };

  const start = (databaseUrl: string, args: string[]) =>
    ServiceProcess.start({
      script: cli,
      args,
      env: { ...testSettings, ...patientDatabase, DATABASE_URL: databaseUrl },
      ready: 'started',
    });

  const whole = (databaseUrl: string, args: string[]) =>
    runProgram(cli, args, { env: { ...testSettings, ...patientDatabase, DATABASE_URL: databaseUrl }, cwd: directory });

  /**
   * Runs the command and kills it at a place in its traffic with MariaDB, which has ended its statements afterwards.
   * @returns how the command has ended: it may be done before that place
   */
  async function killedAt(url: string, args: string[], point?: KillPoint): Promise<Exit & { packets: number }> {
    const proxy = await new KillProxy().start(Number(new URL(url).port));
    const command = await start(Object.assign(new URL(url), { port: `${proxy.port}` }).toString(), args);
    if (point !== undefined) proxy.arm(point, () => command.signal('SIGKILL'));
    const exit = await command.exited;
    await command.kill();
    await eventually(() => proxy.drained, { what: 'the connections of the killed command are closed' });
    await proxy.stop();
    if (exit.signal === null && exit.code !== 0) throw new Error(`${args.join(' ')}: ${command.lines.join('\n')}`);
    return { ...exit, packets: proxy.packets.sent };
  }

  const somewhere = (packets: number): KillPoint => ({
    direction: random.pick(['sent', 'answered'] as const),
    packet: 1 + random.next(packets),
    delivered: random.next(2) === 0,
  });

  it(
    `migrate: however often it is killed, alone or beside another run, the schema becomes the same`,
    async () => {
      const expectedUrl = await databases().freshDatabase();
      const { packets } = await killedAt(expectedUrl, ['migrate']);
      const expected = await schemaOf(expectedUrl);
      expect(expected.length).toBeGreaterThan(migrations.length / 2);
      const ends = { killed: 0, done: 0 };
      let kill = 0;
      const goesOn = () => kill < kills || (ends.killed === 0 && kill < 10 * kills);
      while (goesOn()) {
        const url = await databases().freshDatabase();
        for (let done = false; !done && goesOn(); kill++) {
          const runs = [killedAt(url, ['migrate'], somewhere(packets))];
          if (random.next(3) === 0) runs.push(killedAt(url, ['migrate']));
          const [killed, other] = await Promise.all(runs);
          ends[killed!.signal === null ? 'done' : 'killed'] += 1;
          // The recorded migrations are the first ones, in their order.
          const recorded = await recordedMigrations(url);
          expect(recorded).toEqual(migrations.slice(0, recorded.length).map(({ name }) => name));
          done = killed!.signal === null || other !== undefined;
          if (done) expect({ kill, seed, schema: await schemaOf(url) }).toEqual({ kill, seed, schema: expected });
        }
        await migrate(url);
        expect({ kill, seed, schema: await schemaOf(url) }).toEqual({ kill, seed, schema: expected });
        await databases().drop(url);
      }
      await databases().drop(expectedUrl);
      report('migrate', ends);
      expect(ends.killed).toBeGreaterThan(0);
    },
    600_000 + 15_000 * kills,
  );

  describe('migrate --adopt', () => {
    let legacy: string;
    let sql: Connection;
    beforeAll(async () => {
      legacy = await databases().freshDatabase();
      sql = await createConnection({ uri: legacy });
      await sql.query(
        'CREATE TABLE people (id VARCHAR(36), name VARCHAR(80), mail VARCHAR(80), pw VARCHAR(80)) CHARACTER SET utf8mb4',
      );
      // `seq_1_to_n` is a table of MariaDB.
      await sql.query(
        `INSERT INTO people SELECT seq, CONCAT('person', seq), CONCAT('person', seq, '@example.com'), '${bcrypt}'
         FROM seq_1_to_${people}`,
      );
    });
    afterAll(async () => {
      await sql.end();
      await databases().drop(legacy);
    });

    /** Each person has one entry in the history and one in the audit. @returns how many people are there */
    async function adopted(url: string): Promise<number> {
      const name = new URL(url).pathname.slice(1);
      const [tables] = await sql.query<RowDataPacket[]>(`SHOW TABLES FROM ${name} LIKE 'audit_logs'`);
      if (tables.length === 0) return 0;
      const [[found]] = await sql.query<RowDataPacket[]>(
        `SELECT (SELECT COUNT(*) FROM ${name}.users) AS users,
          (SELECT COUNT(*) FROM ${name}.users WHERE login_name = CONCAT('person', uid) AND password = '${bcrypt}') AS whole,
          (SELECT COUNT(DISTINCT user_id) FROM ${name}.user_change_pwd_logs) AS people_with_history,
          (SELECT COUNT(*) FROM ${name}.user_change_pwd_logs) AS history,
          (SELECT COUNT(DISTINCT user_id) FROM ${name}.audit_logs WHERE event = 'USER_IMPORTED') AS audited,
          (SELECT COUNT(*) FROM ${name}.audit_logs) AS audits`,
      );
      const numbers = Object.values(found!).map(Number);
      expect(new Set(numbers)).toEqual(new Set([numbers[0]]));
      expect(numbers[0]! % batch).toBe(0);
      return numbers[0]!;
    }

    it(
      'MariaDB: whole batches are there after each kill, and later runs add everybody once',
      async () => {
        const args = ['migrate', '--adopt', await planOf(`${new URL(legacy).pathname.slice(1)}.people`)];
        const migrated = await databases().migratedDatabase();
        const { packets } = await killedAt(migrated, args);
        expect(await adopted(migrated)).toBe(people);
        await databases().drop(migrated);
        const ends = { killed: 0, done: 0, between: 0 };
        let kill = 0;
        const goesOn = () => kill < kills || (ends.killed === 0 && kill < 10 * kills);
        while (goesOn()) {
          // Three quarters of the kills fall into the adoption: those of the migrations have a test of their own.
          const url = await (random.next(4) > 0 ? databases().migratedDatabase() : databases().freshDatabase());
          for (let before = 0; before < people && goesOn(); kill++) {
            const runs = [killedAt(url, args, somewhere(packets))];
            if (random.next(4) === 0) runs.push(killedAt(url, args));
            const [killed, other] = await Promise.all(runs);
            const now = await adopted(url);
            expect(now).toBeGreaterThanOrEqual(before);
            if (killed!.signal === null || other !== undefined) expect(now).toBe(people);
            ends[killed!.signal === null ? 'done' : 'killed'] += 1;
            if (now > 0 && now < people) ends.between += 1;
            before = now;
          }
          const before = await adopted(url);
          const { code, stdout } = await whole(url, [...args, '--json']);
          expect({ code, report: JSON.parse(stdout) }).toEqual({
            code: 0,
            report: { failed: [], rows: people, created: people - before, skipped: before },
          });
          expect(await adopted(url)).toBe(people);
          await databases().drop(url);
        }
        report('adopt', ends);
        expect(ends.killed).toBeGreaterThan(0);
      },
      600_000 + 15_000 * kills,
    );

    it(
      'SQLite: whole batches are there after each kill, and later runs add everybody once',
      async () => {
        const args = ['migrate', '--adopt', await planOf('people')];
        const given = (name: string) => {
          const path = join(directory, `${name}.sqlite`);
          const database = new SqliteDatabase(path);
          database.exec('CREATE TABLE people (id TEXT, name TEXT, mail TEXT, pw TEXT)');
          const insert = database.prepare('INSERT INTO people VALUES (?, ?, ?, ?)');
          database.transaction(() => {
            for (let n = 1; n <= people; n++) insert.run(`${n}`, `person${n}`, `person${n}@example.com`, bcrypt);
          })();
          database.close();
          return path;
        };
        const found = (path: string): number => {
          const database = new SqliteDatabase(path);
          try {
            const check = database.pragma('integrity_check', { simple: true });
            expect(check).toBe('ok');
            if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'audit_logs'").get() === undefined) return 0;
            const numbers = Object.values(
              database
                .prepare(
                  `SELECT (SELECT COUNT(*) FROM users WHERE login_name = 'person' || uid) AS users,
                   (SELECT COUNT(*) FROM users) AS total,
                   (SELECT COUNT(DISTINCT user_id) FROM user_change_pwd_logs) AS people_with_history,
                   (SELECT COUNT(*) FROM user_change_pwd_logs) AS history,
                   (SELECT COUNT(*) FROM audit_logs) AS audits`,
                )
                .get() as Record<string, number>,
            );
            expect(new Set(numbers)).toEqual(new Set([numbers[0]]));
            expect(numbers[0]! % batch).toBe(0);
            return numbers[0]!;
          } finally {
            database.close();
          }
        };

        const begun = performance.now();
        const rehearsal = await whole(`sqlite:${given('rehearsal')}`, args);
        // On a busy machine the rehearsal may have taken much longer than the runs after it.
        let window = Math.ceil(performance.now() - begun);
        expect(rehearsal.code).toBe(0);
        const ends = { killed: 0, done: 0, between: 0 };
        const wanted = Math.ceil(kills / 2);
        for (let runs = 0; ends.killed < wanted && runs < 20 * wanted;) {
          const path = given(`killed-${runs}`);
          let before = 0;
          for (let done = false; !done && ends.killed < wanted; runs++) {
            const command = await start(`sqlite:${path}`, args);
            // The first third of a run starts the program and reads its code.
            await Promise.race([pause(window / 3 + random.next(window)), command.exited]);
            done = (await command.kill()).signal === null;
            const now = found(path);
            expect(now).toBeGreaterThanOrEqual(before);
            ends[done ? 'done' : 'killed'] += 1;
            if (done) window *= 0.8;
            if (now > 0 && now < people) ends.between += 1;
            before = now;
          }
          const { code, stdout } = await whole(`sqlite:${path}`, [...args, '--json']);
          expect({ code, report: JSON.parse(stdout) }).toEqual({
            code: 0,
            report: { failed: [], rows: people, created: people - before, skipped: before },
          });
          expect(found(path)).toBe(people);
        }
        expect(ends.killed).toBe(wanted);
        report('adopt on SQLite', ends);
      },
      600_000 + 15_000 * kills,
    );
  });
});

/** Printed for the longer runs only. */
function report(what: string, ends: object): void {
  if (process.env.CRASH_KILLS !== undefined) process.stdout.write(`${JSON.stringify({ what, seed, ...ends })}\n`);
}

async function withConnection<T>(url: string, use: (connection: Connection) => Promise<T>): Promise<T> {
  const connection = await createConnection(url);
  try {
    return await use(connection);
  } finally {
    await connection.end();
  }
}

async function recordedMigrations(url: string): Promise<string[]> {
  return withConnection(url, async (connection) => {
    const [tables] = await connection.query<RowDataPacket[]>("SHOW TABLES LIKE 'migrations'");
    if (tables.length === 0) return [];
    const [rows] = await connection.query<RowDataPacket[]>('SELECT name FROM migrations ORDER BY id');
    return rows.map(({ name }) => String(name));
  });
}

/** The CREATE statement of each table, and the names of the migrations. */
async function schemaOf(url: string): Promise<string[]> {
  const recorded = await recordedMigrations(url);
  return withConnection(url, async (connection) => {
    const [tables] = await connection.query<RowDataPacket[]>('SHOW TABLES');
    const lines: string[] = [];
    for (const name of tables.flatMap((row) => Object.values(row) as string[])) {
      const [[row]] = await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE \`${name}\``);
      lines.push(String(row?.['Create Table']).replace(/ AUTO_INCREMENT=\d+/, ''));
    }
    return [...lines, ...recorded];
  });
}
