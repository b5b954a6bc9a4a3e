import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Ties directory users to their entries, and remembers when the directory last answered about them (ADR 0010). */
export class DirectoryIdentity1764000000000 implements RepeatableMigration {
  readonly name = 'DirectoryIdentity1764000000000';

  async up(runner: QueryRunner): Promise<void> {
    const time = runner.dataSource.options.type === 'mysql' ? 'datetime(3)' : 'datetime';
    await this.add(runner, 'directory_id', 'varchar(36)');
    await this.add(runner, 'directory_seen_at', time);
    await this.add(runner, 'directory_look_until', time);
    // Rows without an id do not collide: a unique index ignores NULL.
    await new Columns(runner).addIndex('users', ['directory_id'], true);
  }

  async down(runner: QueryRunner): Promise<void> {
    const index = 'uq_users_directory_id';
    const known = (await runner.getTable('users'))?.indices.some(({ name }) => name === index);
    if (known) await runner.dropIndex('users', index);
    for (const column of ['directory_id', 'directory_seen_at', 'directory_look_until']) {
      if (await runner.hasColumn('users', column)) await runner.query(`ALTER TABLE users DROP COLUMN ${column}`);
    }
  }

  /** Plain SQL, because TypeORM would copy the whole table on SQLite. */
  private async add(runner: QueryRunner, column: string, type: string): Promise<void> {
    if (await runner.hasColumn('users', column)) return;
    await runner.query(`ALTER TABLE users ADD COLUMN ${column} ${type} NULL`);
  }
}
