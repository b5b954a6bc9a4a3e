import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

const indices = [
  ['nickname_key', 'uid'],
  ['tenant_id', 'nickname_key', 'uid'],
];
const generated = 'varchar(255) GENERATED ALWAYS AS (LOWER(nickname)) VIRTUAL';
const former = 'nickname_key_former';

/** Rows of one statement. It locks them for some milliseconds, and a login of one of these users waits for as long. */
const batchRows = 1000;

/**
 * Makes `nickname_key` a column that the service fills. On MariaDB, an index on a virtual column makes each later
 * `ALTER TABLE users ADD COLUMN` copy the table, and no login can write meanwhile (ADR 0025).
 */
export class NicknameKey1766900000000 implements RepeatableMigration {
  readonly name = 'NicknameKey1766900000000';
  /** Each batch commits by itself. One transaction would lock every user until its end. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    if (await isGenerated(runner)) {
      await dropIndices(c);
      await this.replace(runner);
    }
    if (await runner.hasColumn('users', former)) {
      // In a cluster, another process may have replaced the column before this one did, and made the indices.
      await dropIndices(c);
      await runner.query(`ALTER TABLE users DROP COLUMN ${former}`);
    }
    await fill(runner);
    for (const columns of indices) await c.addIndex('users', columns);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await dropIndices(c);
    if (await runner.hasColumn('users', 'nickname_key'))
      await runner.query('ALTER TABLE users DROP COLUMN nickname_key');
    await runner.query(`ALTER TABLE users ADD COLUMN nickname_key ${generated}`);
    for (const columns of indices) await c.addIndex('users', columns);
  }

  /**
   * One statement on MySQL and MariaDB, so that a replica of the former version finds a column of this name at any time.
   * MariaDB drops no virtual column in a statement that adds another column, so the former one is dropped later.
   */
  private async replace(runner: QueryRunner): Promise<void> {
    const add = 'ADD COLUMN nickname_key varchar(255) NULL';
    if (runner.dataSource.options.type === 'mysql') {
      await runner.query(`ALTER TABLE users RENAME COLUMN nickname_key TO ${former}, ${add}`);
    } else {
      await runner.query('ALTER TABLE users DROP COLUMN nickname_key');
      await runner.query(`ALTER TABLE users ${add}`);
    }
  }
}

async function isGenerated(runner: QueryRunner): Promise<boolean> {
  const found = (await runner.query(
    runner.dataSource.options.type === 'mysql'
      ? `SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()
         AND TABLE_NAME = 'users' AND COLUMN_NAME = 'nickname_key' AND EXTRA LIKE '%VIRTUAL GENERATED%'`
      : "SELECT name FROM pragma_table_xinfo('users') WHERE name = 'nickname_key' AND hidden = 2",
  )) as unknown[];
  return found.length > 0;
}

async function dropIndices(c: Columns): Promise<void> {
  for (const columns of indices) await c.dropIndex('users', columns);
}

/** A nickname that changes meanwhile is either seen here, or its writer fills the key afterwards. */
async function fill(runner: QueryRunner): Promise<void> {
  for (let from = ''; ;) {
    const uids = (await runner.query(`SELECT uid FROM users WHERE uid > ? ORDER BY uid LIMIT ${batchRows}`, [
      from,
    ])) as { uid: string }[];
    const to = uids.at(-1)?.uid;
    if (to === undefined) return;
    await runner.query(
      `UPDATE users SET nickname_key = LOWER(nickname)
       WHERE uid > ? AND uid <= ? AND COALESCE(nickname_key, '') <> COALESCE(LOWER(nickname), '')`,
      [from, to],
    );
    from = to;
  }
}
