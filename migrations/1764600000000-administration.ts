import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** The indices of `users` for the lists of administrators, besides those of the unique keys. */
const indices = [
  ['nickname_key', 'uid'],
  ['tenant_id', 'login_name_key'],
  ['tenant_id', 'email_key'],
  ['tenant_id', 'nickname_key', 'uid'],
  ['status', 'login_name_key'],
  ['last_login_failed_time', 'uid'],
  ['is_admin', 'tenant_id'],
  ['erasing_since'],
];

/** For the search of users, and for tombstones of deleted users (ADR 0025). */
export class Administration1764600000000 implements RepeatableMigration {
  readonly name = 'Administration1764600000000';

  async up(runner: QueryRunner): Promise<void> {
    const time = runner.dataSource.options.type === 'mysql' ? 'datetime(3)' : 'datetime';
    await this.add(runner, 'deleted_at', `${time} NULL`);
    await this.add(runner, 'erasing_since', `${time} NULL`);
    // The database keeps this column up to date, also for rows that a former version writes during a roll-out.
    await this.add(runner, 'nickname_key', 'varchar(255) GENERATED ALWAYS AS (LOWER(nickname)) VIRTUAL');
    const c = new Columns(runner);
    for (const columns of indices) await c.addIndex('users', columns);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const columns of [...indices].reverse()) await c.dropIndex('users', columns);
    for (const column of ['nickname_key', 'erasing_since', 'deleted_at']) {
      if (await runner.hasColumn('users', column)) await runner.query(`ALTER TABLE users DROP COLUMN ${column}`);
    }
  }

  /** Plain SQL, because TypeORM would copy the whole table on SQLite. */
  private async add(runner: QueryRunner, column: string, type: string): Promise<void> {
    if (await runner.hasColumn('users', column)) return;
    await runner.query(`ALTER TABLE users ADD COLUMN ${column} ${type}`);
  }
}
