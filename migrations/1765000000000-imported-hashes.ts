import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** The columns that hold password hashes, and whether they may be NULL. */
const columns = { users: 'NULL', user_change_pwd_logs: 'NOT NULL' };

/**
 * Makes room for the hashes of other systems: 255 characters instead of 72. MySQL and MariaDB change only the
 * definition, not the rows. SQLite does not limit the length of a text.
 */
export class ImportedHashes1765000000000 implements RepeatableMigration {
  readonly name = 'ImportedHashes1765000000000';

  async up(runner: QueryRunner): Promise<void> {
    await resize(runner, 255);
  }

  async down(runner: QueryRunner): Promise<void> {
    await resize(runner, 72);
  }
}

/** Plain SQL, because TypeORM cannot read a table with a generated column (ADR 0025). */
async function resize(runner: QueryRunner, length: number): Promise<void> {
  if (runner.dataSource.options.type !== 'mysql') return;
  for (const [table, nullable] of Object.entries(columns)) {
    await runner.query(`ALTER TABLE ${table} MODIFY password varchar(${length}) ${nullable}`);
  }
}
