import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Tells the clients of SCIM from the services that ask about tokens, and orders the groups of all tenants (docs/spec/extensions.md#l). */
export class ScimClients1769500000000 implements RepeatableMigration {
  readonly name = 'ScimClients1769500000000';

  async up(runner: QueryRunner): Promise<void> {
    const flag = runner.dataSource.options.type === 'mysql' ? 'tinyint' : 'boolean';
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await add(runner, 'scim', `${flag} NOT NULL DEFAULT 0`);
    // The tenant whose users and groups the client reaches; null for all.
    await add(runner, 'tenant_id', 'varchar(64) NULL');
    await new Columns(runner).addIndex('user_groups', ['name_key']);
  }

  async down(runner: QueryRunner): Promise<void> {
    // The index of `user_groups` goes with its table: TypeORM keeps the list of indexes that it has read, and drops each of them.
    for (const column of ['tenant_id', 'scim']) {
      if (await runner.hasColumn('service_clients', column))
        await runner.query(`ALTER TABLE service_clients DROP COLUMN ${column}`);
    }
  }
}

async function add(runner: QueryRunner, column: string, type: string): Promise<void> {
  if (await runner.hasColumn('service_clients', column)) return;
  await runner.query(`ALTER TABLE service_clients ADD COLUMN ${column} ${type}`);
}
