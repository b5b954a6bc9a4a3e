import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `users.language`, the language of the mails to the owner of the account (docs/spec/extensions.md#foreign-changes). */
export class UserLanguage1768000000000 implements RepeatableMigration {
  readonly name = 'UserLanguage1768000000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'language')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE users ADD COLUMN language varchar(35) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'language')) await runner.query('ALTER TABLE users DROP COLUMN language');
  }
}
