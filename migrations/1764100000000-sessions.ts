import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

const table = 'login_tokens';

/**
 * Adds what the owner of an account sees of a session, and the time of its last credential check, to `login_tokens`.
 * Only the first row of a session has values. They are NULL for a session of an earlier version.
 */
export class Sessions1764100000000 implements RepeatableMigration {
  readonly name = 'Sessions1764100000000';

  async up(runner: QueryRunner): Promise<void> {
    // MySQL commits DDL at once. If the process is killed after one of the statements, the migration runs again.
    for (const [name, type] of this.columns(runner)) {
      if (await runner.hasColumn(table, name)) continue;
      // Plain SQL, because TypeORM would copy the whole table on SQLite. MySQL and MariaDB add the column at once.
      await runner.query(`ALTER TABLE ${table} ADD COLUMN ${name} ${type} NULL`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of this.columns(runner)) {
      if (await runner.hasColumn(table, name)) await runner.query(`ALTER TABLE ${table} DROP COLUMN ${name}`);
    }
  }

  private columns(runner: QueryRunner): readonly (readonly [name: string, type: string])[] {
    const time = runner.dataSource.options.type === 'mysql' ? 'datetime(3)' : 'datetime';
    return [
      ['ip', 'varchar(45)'],
      ['user_agent', 'varchar(512)'],
      ['amr', 'varchar(64)'],
      ['authenticated_at', time],
      ['last_used_at', time],
    ];
  }
}
