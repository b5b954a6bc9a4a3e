import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/**
 * Adds groups of users and their members (docs/spec/extensions.md#l), and `users.in_groups`: 1 since the user was first
 * made a member. The check of a token looks for members only of such users. `groups` is a word of SQL in MySQL 8.
 */
export class Groups1769400000000 implements RepeatableMigration {
  readonly name = 'Groups1769400000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'user_groups',
        [
          c.uuid('id', { isPrimary: true }),
          c.text('tenant_id', 64),
          c.text('name', 255),
          c.text('name_key', 255),
          // Who owns it: `admin`, `scim`, `directory` or `provider`.
          c.text('source', 16),
          // The identity provider that owns it; null for another source.
          c.text('owner_id', 64, nullable),
          c.text('external_id', 255, nullable),
          // Increased by each write, also by one of the members.
          c.count('version'),
          c.time('created_at'),
          c.time('changed_at'),
        ],
        [
          { columns: ['tenant_id', 'name_key'], unique: true },
          { columns: ['name_key', 'id'] },
          { columns: ['external_id'] },
        ],
      ),
      c.table(
        'user_group_members',
        [c.uuid('group_id', { isPrimary: true }), c.uuid('user_id', { isPrimary: true }), c.time('added_at')],
        [{ columns: ['user_id'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    if (!(await runner.hasColumn('users', 'in_groups'))) {
      await runner.query('ALTER TABLE users ADD COLUMN in_groups tinyint NOT NULL DEFAULT 0');
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'in_groups')) await runner.query('ALTER TABLE users DROP COLUMN in_groups');
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
