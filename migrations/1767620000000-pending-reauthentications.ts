import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds the session that a code confirms. NULL: the code finishes a login. */
export class PendingReauthentications1767620000000 implements RepeatableMigration {
  readonly name = 'PendingReauthentications1767620000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('pending_logins', 'sid')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE pending_logins ADD COLUMN sid varchar(36) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('pending_logins', 'sid')) await runner.dropColumn('pending_logins', 'sid');
  }
}
