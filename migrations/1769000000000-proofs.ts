import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/**
 * Adds the memory of used proofs, and the key of a login that waits for its second factor (docs/spec/extensions.md#n). The
 * new column comes last and is nullable, so MariaDB and MySQL add it without a copy of the table.
 */
export class Proofs1769000000000 implements RepeatableMigration {
  readonly name = 'Proofs1769000000000';

  tables(c: Columns): Table[] {
    return [
      c.table(
        'used_proofs',
        [c.text('id', 32, { isPrimary: true }), c.long('claim'), c.time('expires')],
        [{ columns: ['expires'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    if (await runner.hasColumn('pending_logins', 'bound_to')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE pending_logins ADD COLUMN bound_to varchar(80) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('pending_logins', 'bound_to')) await runner.dropColumn('pending_logins', 'bound_to');
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
