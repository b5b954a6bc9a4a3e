import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** For the mails about an expiring password and about a new browser (ADR 0023). */
export class PasswordNotices1764300000000 implements RepeatableMigration {
  readonly name = 'PasswordNotices1764300000000';

  tables(c: Columns): Table[] {
    const primary = { isPrimary: true };
    return [
      // The last warning of each account. `password_id` is a row of user_change_pwd_logs, or 0 for a password without one.
      c.table('password_expiry_warnings', [
        c.uuid('user_id', primary),
        c.long('password_id'),
        c.count('days'),
        c.time('warned_at'),
      ]),
      c.table(
        'known_browsers',
        [c.uuid('user_id', primary), c.text('browser', 64, primary), c.time('seen_at')],
        [{ columns: ['seen_at'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    // Plain SQL, because TypeORM would copy the whole table on SQLite. The column takes the table's collation.
    if (!(await runner.hasColumn('user_change_pwd_logs', 'language'))) {
      await runner.query('ALTER TABLE user_change_pwd_logs ADD COLUMN language varchar(16) NULL');
    }
    await c.addIndex('user_change_pwd_logs', ['created_at', 'id']);
    await c.addIndex('users', ['created_at', 'uid']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropIndex('users', 'ix_users_created_at_uid');
    await runner.dropIndex('user_change_pwd_logs', 'ix_user_change_pwd_logs_created_at_id');
    await runner.query('ALTER TABLE user_change_pwd_logs DROP COLUMN language');
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
