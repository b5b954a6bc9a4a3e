import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { createConnection, type Connection } from 'mysql2/promise';
import { AdminClient, adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { type Ended, runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { testSettings } from '../support/settings';

const cli = 'dist/src/cli.js';
const bcrypt = '$2a$04$abcdefghijklmnopqrstuuW9jzJBfVhCDTq6PZ0CZpEhVSFJ8bLUK';
const argon2id = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';

const plan = (source: string, more: object = {}) => ({
  source,
  columns: {
    uid: 'id',
    login_name: 'user name',
    email: 'mail',
    nickname: 'display_name',
    password_hash: 'pw',
    created_at: 'created',
    last_login_success_time: 'seen',
    status: { column: 'active', map: { '1': 1, '0': -1 } },
  },
  ...more,
});

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'adopt-'));
});
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
async function planFile(content: unknown): Promise<string> {
  const file = join(directory, `plan-${++files}.json`);
  await writeFile(file, JSON.stringify(content));
  return file;
}

/** `migrate --adopt` on one database, as an operator runs it. */
class Adoption {
  constructor(
    readonly databaseUrl: string,
    private readonly more: Record<string, string> = {},
  ) {}

  get env(): Record<string, string> {
    return { ...testSettings, DATABASE_URL: this.databaseUrl, ...this.more };
  }

  /** @param plan is standard input, where the file is `-` */
  piped(plan: unknown, ...more: string[]): Promise<Ended> {
    const input = JSON.stringify(plan);
    return runProgram(cli, ['migrate', '--adopt', '-', ...more], { env: this.env, cwd: directory, input });
  }

  run(file: string, ...more: string[]): Promise<Ended> {
    return runProgram(cli, ['migrate', '--adopt', file, ...more], { env: this.env, cwd: directory });
  }

  async report(file: string, ...more: string[]) {
    const { code, stdout, stderr } = await this.run(file, '--json', ...more);
    return { code, lines: stderr.split('\n').length - 1, report: JSON.parse(stdout) as Record<string, any> };
  }

  /** Ends the command by a signal as soon as it has printed its progress for the first time. */
  async interrupted(file: string, signal: 'SIGKILL' | 'SIGTERM') {
    const child = spawn(process.execPath, [resolve(cli), 'migrate', '--adopt', file], {
      env: { PATH: process.env.PATH, ...this.env },
      cwd: directory,
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += String(chunk);
      if (/^\d+ of \d+ rows$/m.test(stderr)) child.kill(signal);
    });
    const [code, by] = (await once(child, 'close')) as [number | null, string | null];
    return { code, by, stderr };
  }
}

describe('migrate --adopt on MariaDB', () => {
  let legacy: string;
  let sql: Connection;
  beforeAll(async () => {
    legacy = await MariaDbDatabases.shared().freshDatabase();
    sql = await createConnection({ uri: legacy, timezone: 'Z' });
  });
  afterAll(async () => {
    await sql.end();
    await MariaDbDatabases.shared().drop(legacy);
  });
  const schema = () => new URL(legacy).pathname.slice(1);
  const rows = async (statement: string) => (await sql.query(statement))[0] as Record<string, any>[];

  /** Each test has its own service, and its own table in the other database of the server. */
  async function given(table: string): Promise<{ adoption: Adoption; database: string; source: string }> {
    const databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    await sql.query(
      `CREATE TABLE ${table} (id VARCHAR(64), \`user name\` VARCHAR(300), mail VARCHAR(300), display_name VARCHAR(300),
       pw VARCHAR(300), created DATETIME, seen DATETIME, active BIT(1)) CHARACTER SET utf8mb4`,
    );
    const database = new URL(databaseUrl).pathname.slice(1);
    return { adoption: new Adoption(databaseUrl), database, source: `${schema()}.${table}` };
  }

  /** People with the ids 1 to n. `seq_1_to_n` is a table of MariaDB. */
  const fill = (table: string, count: number) =>
    sql.query(
      `INSERT INTO ${table} SELECT seq, CONCAT('person', seq), CONCAT('person', seq, '@example.com'), NULL, '${bcrypt}',
       '2020-01-01', NULL, 1 FROM seq_1_to_${count}`,
    );

  /** Whether every person of the table is adopted once, with one entry in the history and one in the audit. */
  async function expectAllAdopted(database: string, count: number): Promise<void> {
    const [found] = await rows(
      `SELECT (SELECT COUNT(*) FROM ${database}.users WHERE login_name = CONCAT('person', uid)) AS users,
       (SELECT COUNT(*) FROM ${database}.users) AS total,
       (SELECT COUNT(DISTINCT user_id) FROM ${database}.user_change_pwd_logs) AS histories,
       (SELECT COUNT(*) FROM ${database}.user_change_pwd_logs) AS entries,
       (SELECT COUNT(DISTINCT user_id) FROM ${database}.audit_logs WHERE event = 'USER_IMPORTED') AS audited,
       (SELECT COUNT(*) FROM ${database}.audit_logs) AS audits`,
    );
    expect(Object.values(found!).map(Number)).toEqual(Array(6).fill(count));
  }

  it('keeps ids, names, times, states and hashes, refuses wrong rows with a reason, and a second run changes nothing (T341)', async () => {
    const { adoption, database, source } = await given('people');
    const at = "'2019-05-01 10:00:00', '2024-02-03 04:05:06'";
    const good = (id: string, name: string, pw = 'NULL', more = `${at}, 1`) =>
      `(${id}, '${name}', '${name}@example.com', 'Nick', ${pw}, ${more})`;
    await sql.query(
      `INSERT INTO people VALUES ${[
        good("'42'", 'Alice', `'${bcrypt}'`),
        good("'Legacy_42-x'", 'bob', `'${argon2id}'`, `${at}, 0`),
        good('NULL', 'carol'),
        "('7', 'dave', '', '', '', NULL, NULL, 1)",
        // Refused, in this order.
        good("'has space'", 'e1'),
        good(`'${'i'.repeat(37)}'`, 'e2'),
        good("''", 'e3'),
        good("'8'", 'ALICE'),
        "('9', 'e5', 'bob@EXAMPLE.com', NULL, NULL, NULL, NULL, 1)",
        good("'10'", 'e6', "'5f4dcc3b5aa765d61d8327deb882cf99'"),
        good("'11'", 'e7', `'${argon2id.replace('m=256', 'm=2097152')}'`),
        good("'12'", 'e8', 'NULL', `${at}, NULL`),
        good("'13'", 'e9', 'NULL', "'2999-01-01', NULL, 1"),
        "('14', 'e10', 'a@example.com, b@example.com', NULL, NULL, NULL, NULL, 1)",
        "('15', '', NULL, NULL, NULL, NULL, NULL, 1)",
        good("'42'", 'e12'),
      ].join(', ')}`,
    );
    const { columns: mapped, ...rest } = plan(source);
    const file = await planFile({ ...rest, columns: { ...mapped, password_set_at: 'seen' } });
    expect(await adoption.run(file, '--dry-run')).toMatchObject({ code: 1, stderr: expect.stringMatching(/migrate/) });
    expect(await rows(`SHOW TABLES FROM ${database}`)).toEqual([]);
    await runProgram(cli, ['migrate'], { env: adoption.env, cwd: directory });

    const dry = await adoption.report(file, '--dry-run');
    expect(await rows(`SELECT uid FROM ${database}.users`)).toEqual([]);
    expect(await rows(`SELECT id FROM ${database}.audit_logs`)).toEqual([]);
    const wet = await adoption.report(file);
    const { failed, ...counts } = wet.report;
    expect({ ...wet, report: counts }).toEqual({ code: 1, lines: 1, report: { rows: 16, created: 4, skipped: 0 } });
    expect(failed.map(({ row, problem }: any) => [row, problem])).toEqual([
      [5, expect.stringContaining('uid must have 1 to 36 characters')],
      [6, expect.stringContaining('uid must have')],
      [7, expect.stringContaining('uid must have')],
      [8, 'the login name belongs to the account 42'],
      [9, 'the e-mail address belongs to the account Legacy_42-x'],
      [10, expect.stringContaining('password_hash cannot be used: it must be a bcrypt hash')],
      [11, expect.stringContaining('m from 8·p to 131072')],
      [12, 'status "null" is not in columns.status.map'],
      [13, 'created_at must be a time from 1970 to today'],
      [14, 'the e-mail address is not valid'],
      [15, expect.stringContaining('the login name must have 1 to 255 characters')],
      [16, 'the uid belongs to an account with another login name'],
    ]);
    expect(failed[3]).toMatchObject({ uid: '8', login_name: 'ALICE' });
    expect(JSON.stringify(failed)).not.toMatch(/5f4dcc|argon2id\$v=19\$m=2/);
    const warnings = [expect.stringMatching(/^2 passwords are older than PASSWORD_EXPIRE_DAYS \(90\)/)];
    expect(dry).toEqual({ ...wet, report: { ...wet.report, warnings } });

    const columns = 'uid, login_name, email, nickname, password, salt, status, created_at, last_login_success_time';
    const stored = await rows(`SELECT ${columns} FROM ${database}.users ORDER BY login_name`);
    const created_at = new Date('2019-05-01T10:00:00Z');
    const last_login_success_time = new Date('2024-02-03T04:05:06Z');
    expect(await rows(`SELECT user_id, created_at FROM ${database}.user_change_pwd_logs ORDER BY user_id`)).toEqual([
      { user_id: '42', created_at: last_login_success_time },
      { user_id: 'Legacy_42-x', created_at: last_login_success_time },
    ]);
    const shared = { nickname: 'Nick', status: 1, created_at, last_login_success_time };
    expect(stored).toEqual([
      {
        ...shared,
        uid: '42',
        login_name: 'Alice',
        email: 'Alice@example.com',
        password: bcrypt,
        salt: bcrypt.slice(0, 29),
      },
      {
        ...shared,
        uid: 'Legacy_42-x',
        login_name: 'bob',
        email: 'bob@example.com',
        password: argon2id,
        salt: null,
        status: -1,
      },
      {
        ...shared,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        login_name: 'carol',
        email: 'carol@example.com',
        password: null,
        salt: null,
      },
      {
        ...shared,
        uid: '7',
        login_name: 'dave',
        email: null,
        nickname: null,
        password: null,
        salt: null,
        created_at: expect.any(Date),
        last_login_success_time: null,
      },
    ]);

    expect(await adoption.report(file)).toMatchObject({ code: 1, report: { rows: 16, created: 0, skipped: 4 } });
    const printed = await adoption.run(file);
    expect(printed.stdout).toContain('row 8 (ALICE, uid 8): the login name belongs to the account 42\n');
    expect(printed.stdout).toMatch(/16 rows: 0 created, 4 exist, 12 failed\n$/);
    expect(await rows(`SELECT ${columns} FROM ${database}.users ORDER BY login_name`)).toEqual(stored);
  });

  it('a table, a column or a file that does not fit is refused with one line, and nothing is written (T340)', async () => {
    const { adoption, database, source } = await given('shape');
    await runProgram(cli, ['migrate'], { env: adoption.env, cwd: directory });
    for (const [content, problem] of [
      [plan(`${schema()}.nothing`), /^source: there is no table .*nothing that the user of DATABASE_URL may read\n$/],
      [
        { source, columns: { login_name: 'user name', email: 'e_mail' } },
        /^columns\.email: .* has no column "e_mail"\n$/,
      ],
      [{ source: 'users', columns: { login_name: 'login_name' } }, /^source is the table `users` of this service/],
    ] as const) {
      const { code, stdout, stderr } = await adoption.run(await planFile(content));
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(problem);
      expect(stderr.trim()).not.toContain('\n');
    }
    expect(await rows(`SELECT COUNT(*) AS n FROM ${database}.users`)).toEqual([{ n: 0 }]);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'a run that is ended by %s has adopted whole batches, and the next run adds the rest without doubles (T345)',
    async (signal) => {
      const { adoption, database, source } = await given(`ended_by_${signal}`);
      await fill(`ended_by_${signal}`, 3000);
      const file = await planFile(plan(source));
      const ended = await adoption.interrupted(file, signal);
      if (signal === 'SIGTERM')
        expect(ended).toMatchObject({
          code: 143,
          stderr: expect.stringMatching(/stopped by SIGTERM after \d+ rows; run it again/),
        });
      else expect(ended.by).toBe('SIGKILL');
      const [{ n } = { n: 0 }] = await rows(`SELECT COUNT(*) AS n FROM ${database}.users`);
      expect(n).toBeGreaterThanOrEqual(1000);
      expect(n % 200).toBe(0);
      const { code, report } = await adoption.report(file);
      expect({ code, report }).toEqual({ code: 0, report: { failed: [], rows: 3000, created: 3000 - n, skipped: n } });
      await expectAllAdopted(database, 3000);
      const [{ days } = { days: 0 }] = await rows(
        `SELECT COUNT(DISTINCT DATE(created_at)) AS days FROM ${database}.user_change_pwd_logs`,
      );
      // Their passwords expire on different days, and not all of them on the same one.
      expect(days).toBeGreaterThan(70);
    },
  );

  it('two runs at once: the one that commits a row first wins, the other one skips it, and nobody is missing (T345)', async () => {
    const { adoption, database, source } = await given('twice');
    await fill('twice', 600);
    await runProgram(cli, ['migrate'], { env: adoption.env, cwd: directory });
    const file = await planFile(plan(source));
    const lock = await createConnection({ uri: adoption.databaseUrl });
    await lock.beginTransaction();
    // Locks a gap: both runs have looked for the first batch before one of them can insert it.
    await lock.query("SELECT uid FROM users WHERE login_name_key = 'person1' FOR UPDATE");
    const runs = [adoption.report(file), adoption.report(file)];
    await eventually(
      async () => {
        const [found] = await rows(
          `SELECT COUNT(*) AS n FROM information_schema.innodb_trx t JOIN information_schema.processlist p
           ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = '${database}'`,
        );
        return Number(found?.n) === 2;
      },
      { what: 'both runs wait with their INSERT', interval: 150 },
    );
    await lock.rollback();
    await lock.end();
    const ended = await Promise.all(runs);
    expect(ended.map(({ code, report }) => [code, report.rows, report.failed])).toEqual([
      [0, 600, []],
      [0, 600, []],
    ]);
    expect(ended.reduce((sum, { report }) => sum + report.created, 0)).toBe(600);
    await expectAllAdopted(database, 600);
  });

  it('a person who was erased stays erased when the adoption runs again (T347)', async () => {
    const { adoption, database, source } = await given('erased');
    await fill('erased', 3);
    const file = await planFile(plan(source));
    await runProgram(cli, ['migrate'], { env: adoption.env, cwd: directory });
    await adoption.report(file);
    const store = { url: adoption.databaseUrl, drop: () => Promise.resolve() };
    const service = await TestService.start(adminSettings, { store });
    try {
      const admin = await AdminClient.of(service, 'operator');
      expect((await admin.send('DELETE', 'users/2')).status).toBe(200);
    } finally {
      await service.stop({ keepStore: true });
    }
    const erased = () => rows(`SELECT * FROM ${database}.users WHERE uid = '2'`);
    const before = await erased();
    expect(before).toMatchObject([{ login_name: 'deleted-2', email: null, nickname: null, password: null }]);
    expect(await adoption.report(file)).toMatchObject({ code: 0, report: { rows: 3, created: 0, skipped: 3 } });
    expect(await erased()).toEqual(before);
    expect(await rows(`SELECT uid FROM ${database}.users WHERE login_name_key = 'person2'`)).toEqual([]);
  });

  it('100,000 rows of 3 KB, of which 95,000 are refused, need no more than a small heap', async () => {
    const { adoption, database, source } = await given('large');
    // Only the first 5,000 ids are good. All rows together take 300 MB.
    await sql.query(
      `INSERT INTO large SELECT IF(seq > 95000, seq, CONCAT('bad ', seq)), CONCAT('person', seq), NULL,
       REPEAT('ü', IF(seq > 95000, 250, 300)), REPEAT('x', 300), NULL, NULL, 1 FROM seq_1_to_100000`,
    );
    const columns = { uid: 'id', login_name: 'user name', email: 'mail', nickname: 'display_name' };
    const file = await planFile({ source, columns });
    const small = new Adoption(adoption.databaseUrl, { NODE_OPTIONS: '--max-old-space-size=80' });
    const { code, report } = await small.report(file);
    expect({ code, rows: report.rows, created: report.created, failed: report.failed.length }).toEqual({
      code: 1,
      rows: 100_000,
      created: 5000,
      failed: 95_000,
    });
    expect(await rows(`SELECT COUNT(*) AS n FROM ${database}.users`)).toEqual([{ n: 5000 }]);
  });
});

describe('migrate --adopt on SQLite', () => {
  it('reads a table of the same file, by a plan in a file or on standard input, keeps large numbers as ids, and two runs at once share the rows', async () => {
    const path = join(directory, 'auth.sqlite');
    const adoption = new Adoption(`sqlite:${path}`);
    const database = new SqliteDatabase(path);
    database.exec('CREATE TABLE people (id INTEGER, "user name" TEXT, mail TEXT, created TEXT)');
    const insert = database.prepare('INSERT INTO people VALUES (?, ?, ?, ?)');
    database.transaction(() => {
      for (let n = 0; n < 600; n++)
        insert.run(9007199254740993n + BigInt(n), `p${n}`, `p${n}@example.com`, '2020-01-02 03:04:05');
    })();
    const columns = { uid: 'id', login_name: 'user name', email: 'mail', created_at: 'created' };
    const file = await planFile({ source: 'people', columns });
    const other = await adoption.run(await planFile({ source: 'people', columns: { ...columns, nickname: 'nick' } }));
    expect(other).toMatchObject({ code: 1, stderr: 'columns.nickname: the table people has no column "nick"\n' });
    const main = await adoption.run(await planFile({ source: 'main.people', columns }));
    expect(main).toMatchObject({ code: 1, stderr: expect.stringContaining('a table of the same SQLite file') });

    expect((await adoption.report(file, '--dry-run')).report).toMatchObject({ rows: 600, created: 600 });
    const piped = await adoption.piped({ source: 'people', columns }, '--dry-run', '--json');
    expect(JSON.parse(piped.stdout)).toMatchObject({ rows: 600, created: 600 });
    expect(database.prepare('SELECT COUNT(*) AS n FROM users').get()).toEqual({ n: 0 });
    const ended = await Promise.all([adoption.report(file), adoption.report(file)]);
    expect(ended.map(({ code, report }) => [code, report.rows, report.failed])).toEqual([
      [0, 600, []],
      [0, 600, []],
    ]);
    expect(ended.reduce((sum, { report }) => sum + report.created, 0)).toBe(600);
    expect(database.prepare("SELECT uid, created_at FROM users WHERE login_name = 'p0'").get()).toEqual({
      uid: '9007199254740993',
      created_at: '2020-01-02 03:04:05.000',
    });
    expect(database.prepare('SELECT COUNT(*) AS n FROM users').get()).toEqual({ n: 600 });
    database.close();
  });
});
