import type { QueryRunner, Table } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the table that says how far `user revoke-tokens` of many users has come. Rows of the audit are purged. */
export class RevocationRuns1767500000000 implements RepeatableMigration {
  readonly name = 'RevocationRuns1767500000000';

  tables(c: Columns): Table[] {
    return [
      c.table('revocation_runs', [
        c.text('conditions', 255, { isPrimary: true }),
        c.uuid('run_id'),
        c.uuid('after_uid', { default: "''" }),
        c.count('users'),
        c.time('started_at'),
        c.time('finished_at', { isNullable: true }),
      ]),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.dropTable('revocation_runs', true);
  }
}
