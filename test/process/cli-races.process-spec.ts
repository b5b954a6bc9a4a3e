import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { testSettings } from '../support/settings';

/**
 * InnoDB refreshes innodb_trx only for a query that comes at least 100 ms after the last one of any client, so it is
 * long enough for three test files at once.
 */
const pollMs = 500;

/** Operators and jobs run the same command at the same time, each in a process of its own. */
describe('two parallel commands on MariaDB', () => {
  let databaseUrl: string;
  let directory: string;
  let sql: Connection;
  let env: Record<string, string>;

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().migratedDatabase();
    directory = await mkdtemp(join(tmpdir(), 'cli-races-'));
    env = { ...testSettings, DATABASE_URL: databaseUrl };
    sql = await createConnection({ uri: databaseUrl });
  });
  afterAll(async () => {
    await sql.end();
    await rm(directory, { recursive: true });
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  const run = (...args: string[]) => runProgram('dist/src/cli.js', args, { env, cwd: directory });
  const rows = async (statement: string) => (await sql.query(statement))[0] as Record<string, unknown>[];

  /** Waits until both commands have found no row and wait with their INSERT. Then releases the lock, and one wins. */
  async function race<Ended>(gap: string, commands: Promise<Ended>[]): Promise<Ended[]> {
    const waiting = async () => {
      const [found] = await rows(
        `SELECT COUNT(*) AS n FROM information_schema.innodb_trx t
         JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
         WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`,
      );
      return found?.n === commands.length;
    };
    await eventually(waiting, { what: `all of them wait for ${gap}`, interval: pollMs });
    await sql.commit();
    return Promise.all(commands);
  }

  /** Locks a gap of the index. An INSERT into the gap has to wait. A SELECT, or a DELETE without a match, does not. */
  async function holdGap(select: string): Promise<string> {
    await sql.beginTransaction();
    expect(await rows(`${select} FOR UPDATE`)).toEqual([]);
    return select;
  }

  it('config set of a new key: both succeed, and one of the values is stored', async () => {
    const row = "SELECT value FROM system_configs WHERE tenant_id = 'root' AND `group` = 'SMTP' AND `key` = 'HOST'";
    const gap = await holdGap(row);
    const hosts = ['smtp1.example.com', 'smtp2.example.com'];
    const ended = await race(
      gap,
      hosts.map((host) => run('config', 'set', 'SMTP', 'HOST', host)),
    );
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(hosts.map(() => ({ code: 0, stderr: '' })));
    const found = await rows(row);
    expect(found).toHaveLength(1);
    expect(hosts).toContain(found[0]!.value);
    expect(await rows("SELECT 1 FROM audit_logs WHERE event = 'CONFIG_CHANGED'")).toHaveLength(2);
  });

  it('user import of one file: each row is created by one command and skipped by the other', async () => {
    const file = join(directory, 'people.csv');
    await writeFile(file, 'login_name,email\nann,ann@example.com\nbob,bob@example.com\n');
    const gap = await holdGap("SELECT uid FROM users WHERE login_name_key = 'ann'");
    const ended = await race(
      gap,
      [1, 2].map(() => run('user', 'import', file, '--json')),
    );
    const reports = ended.map(({ stdout }) => JSON.parse(stdout) as Record<'created' | 'skipped', number>);
    expect(ended.map(({ code }) => code)).toEqual([0, 0]);
    expect(reports.map(({ created, skipped }) => created + skipped)).toEqual([2, 2]);
    expect(await rows('SELECT login_name FROM users ORDER BY login_name')).toEqual([
      { login_name: 'ann' },
      { login_name: 'bob' },
    ]);
  });

  it('a command waits for a locked row longer than a request of the service may take', async () => {
    expect(await run('user', 'create', '--login-name', 'held')).toMatchObject({ code: 0 });
    await sql.beginTransaction();
    await rows("SELECT uid FROM users WHERE login_name_key = 'held' FOR UPDATE");
    const command = run('user', 'set-mfa', 'held', 'totp');
    // The service would give up a statement after 2.4 s. The clock of the database measures the wait.
    const longWait = async () => {
      const [found] = await rows(
        `SELECT COUNT(*) AS n FROM information_schema.innodb_trx t
         JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
         WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE() AND t.trx_wait_started < NOW() - INTERVAL 4 SECOND`,
      );
      return Number(found?.n) === 1;
    };
    await eventually(longWait, { what: 'the command has waited for four seconds', interval: pollMs });
    await sql.commit();
    expect(await command).toMatchObject({ code: 0, stderr: '' });
    expect(await rows("SELECT mfa_type FROM users WHERE login_name_key = 'held'")).toEqual([{ mfa_type: 'totp' }]);
  });
});
