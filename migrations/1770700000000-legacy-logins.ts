import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `users.legacy_login`: 1 for a user whose password the old system still checks (docs/spec/extensions.md#legacy-login). */
export class LegacyLogins1770700000000 implements RepeatableMigration {
  readonly name = 'LegacyLogins1770700000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'legacy_login')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE users ADD COLUMN legacy_login tinyint NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'legacy_login'))
      await runner.query('ALTER TABLE users DROP COLUMN legacy_login');
  }
}
