import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import type { RepeatableMigration } from '../../migrations/repeatable';
import { migrate } from '../../src/platform/database/migrator';
import { fillTables } from '../support/migration-law/filled';
import { judge, newMigrations, releasedMigrations, runWatched } from '../support/migration-law/law';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

const all = [...releasedMigrations, ...newMigrations];

/** More users than one statement may change, so that a migration that fills a column needs several. */
const size = { users: 2500, logs: 6000 };

/**
 * No statement of a migration may hold up a login (docs/adr/0046-migrations-beside-logins.md). `npm run check:migrations` measures
 * it with a million users. Here the database judges each statement, and no clock does.
 */
describe('a migration beside logins, on the tables of version 1.0.0', () => {
  const databases = MariaDbDatabases.shared();
  let url: string;
  let sql: Connection;
  let nth = 0;
  beforeAll(async () => {
    url = await databases.freshDatabase();
    await runWatched(url, releasedMigrations, () => undefined);
    sql = await createConnection({ uri: url, timezone: 'Z' });
    await fillTables(sql, size);
  });
  afterAll(async () => {
    await sql.end();
    await databases.drop(url);
  });

  it('every migration since then lets logins go on', async () => {
    expect(newMigrations.length).toBeGreaterThan(0);
    expect(await judge(url, all, sql)).toEqual([]);
    // The users were there, so those that fill tables have done so.
    const [[filled]] = await sql.query<RowDataPacket[]>('SELECT COUNT(DISTINCT user_id) AS users FROM user_words');
    expect(filled).toEqual({ users: size.users });
  });

  it.each([
    [
      'a column whose type changes: users',
      ['ALTER TABLE users MODIFY nickname text NULL'],
      /ALTER TABLE users MODIFY copies the table, and logins wait/,
    ],
    [
      'an index on a virtual column, and then another column',
      [
        'ALTER TABLE tenants ADD COLUMN folded varchar(255) GENERATED ALWAYS AS (LOWER(name)) VIRTUAL',
        'CREATE INDEX ix_folded ON tenants (folded)',
        'ALTER TABLE tenants ADD COLUMN colour varchar(8) NULL',
      ],
      /ALTER TABLE tenants ADD copies the table/,
    ],
    [
      'all users in one statement',
      ['UPDATE users SET held = held + 1'],
      /UPDATE users SET held changes 2500 rows at once/,
    ],
    [
      'a transaction that keeps its row',
      ['UPDATE users SET held = held + 1 LIMIT 1'],
      /UPDATE users SET held leaves locks/,
    ],
  ])('refuses %s', async (_, statements, broken) => {
    class Bad1999999999999 implements RepeatableMigration {
      readonly name = `Bad${nth++}1999999999999`;
      async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
        for (const statement of statements) await runner.query(statement);
      }
      async down(): Promise<void> {}
    }
    expect(await judge(url, [...all, Bad1999999999999], sql)).toContainEqual(expect.stringMatching(broken));
  });

  it('a change that waits for a long transaction, such as a backup, lets logins go first, and is made afterwards', async () => {
    const waiting = await databases.freshDatabase();
    await runWatched(waiting, releasedMigrations, () => undefined);
    const [backup, login] = await Promise.all([1, 2].map(() => createConnection({ uri: waiting, timezone: 'Z' })));
    await backup!.query('START TRANSACTION');
    await backup!.query('SELECT uid FROM users');
    const migrated = migrate(waiting);
    await eventually(async () => (await waits(waiting)) > 0, { what: 'the change waits for the transaction' });
    // Behind a change without a limit, it would wait for a minute.
    await login!.query('SET SESSION lock_wait_timeout = 60');
    for (let n = 0; n < 3; n++) await login!.query('UPDATE users SET held = held + 1');
    await backup!.query('COMMIT');
    expect(await migrated).toEqual(newMigrations.map((one) => new one().name));
    await Promise.all([backup!.end(), login!.end()]);
    await databases.drop(waiting);
  });

  async function waits(of: string): Promise<number> {
    const rows = (await databases.run(
      `SELECT ID FROM information_schema.PROCESSLIST WHERE DB = '${new URL(of).pathname.slice(1)}' AND STATE LIKE 'Waiting for table metadata lock%'`,
    )) as unknown[];
    return rows.length;
  }
});
