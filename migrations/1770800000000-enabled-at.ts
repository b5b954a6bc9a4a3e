import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `users.enabled_at`: when an administrator last enabled the user (docs/spec/decisions.md#2). Null if nobody has. */
export class EnabledAt1770800000000 implements RepeatableMigration {
  readonly name = 'EnabledAt1770800000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'enabled_at')) return;
    const type = runner.dataSource.options.type === 'mysql' ? 'datetime(3)' : 'datetime';
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query(`ALTER TABLE users ADD COLUMN enabled_at ${type} NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'enabled_at')) await runner.query('ALTER TABLE users DROP COLUMN enabled_at');
  }
}
