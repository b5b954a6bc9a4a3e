import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the services that may ask about tokens (docs/spec/extensions.md#f). */
export class ServiceClients1764800000000 implements RepeatableMigration {
  readonly name = 'ServiceClients1764800000000';

  tables(c: Columns): Table[] {
    return [
      c.table(
        'service_clients',
        [
          c.uuid('id', { isPrimary: true }),
          c.text('name', 255),
          c.text('secret_hash', 64),
          c.time('revoked_at', { isNullable: true }),
          c.time('created_at'),
        ],
        [],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
