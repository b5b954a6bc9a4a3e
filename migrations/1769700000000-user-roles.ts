import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `users.role`, what a user without `is_admin` may do in the administration (docs/spec/extensions.md#roles). */
export class UserRoles1769700000000 implements RepeatableMigration {
  readonly name = 'UserRoles1769700000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'role')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE users ADD COLUMN role varchar(16) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'role')) await runner.query('ALTER TABLE users DROP COLUMN role');
  }
}
