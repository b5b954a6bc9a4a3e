import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the receipts of people who leave, and how far the addresses in logs are shortened (docs/spec/extensions.md#l). */
export class Offboardings1769600000000 implements RepeatableMigration {
  readonly name = 'Offboardings1769600000000';

  tables(c: Columns): Table[] {
    const nullable = { isNullable: true };
    return [
      c.table(
        'offboardings',
        [
          c.uuid('id', { isPrimary: true }),
          c.uuid('user_id'),
          // `api`, `console`, `cli` or `scim`.
          c.text('via', 16),
          c.text('began_by', 255, nullable),
          c.time('began_at'),
          // JSON: what was ended, how many, and when.
          c.longText('steps'),
          // Whether there was a webhook receiver to tell.
          c.flag('webhook'),
          // 0 while a receiver has to be told, 1 afterwards.
          c.count('status'),
          c.time('next_check_at'),
          c.time('completed_at', nullable),
          // JSON: what each receiver answered, written with the end.
          c.longText('receivers', nullable),
          c.time('restored_at', nullable),
          c.text('restored_by', 255, nullable),
        ],
        [{ columns: ['user_id', 'began_at'] }, { columns: ['status', 'next_check_at'] }, { columns: ['began_at'] }],
      ),
      c.table('shortened_addresses', [c.text('log', 64, { isPrimary: true }), c.time('shortened_until')]),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    if (!(await runner.hasColumn('event_streams', 'answer'))) {
      await runner.query('ALTER TABLE event_streams ADD COLUMN answer varchar(64) NULL');
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('event_streams', 'answer')) {
      await runner.query('ALTER TABLE event_streams DROP COLUMN answer');
    }
    for (const { name } of this.tables(new Columns(runner)).reverse()) await runner.dropTable(name, true);
  }
}
