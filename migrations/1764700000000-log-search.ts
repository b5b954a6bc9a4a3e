import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** What administrators list, search and count. Each index also ends with the key of its rows. */
const indexes: readonly (readonly [table: string, columns: string[]])[] = [
  ['login_logs', ['ip', 'created_at']],
  ['login_logs', ['outcome', 'created_at']],
  ['audit_logs', ['ip', 'created_at']],
  ['audit_logs', ['event', 'created_at']],
  ['audit_logs', ['actor_id', 'created_at']],
  ['users', ['tenant_id', 'status']],
  ['mail_outbox', ['status', 'created_at', 'id']],
];

/** Indexes for the log search, the list of mails and the overview of administrators (docs/adr/0027-log-search.md). */
export class LogSearch1764700000000 implements RepeatableMigration {
  readonly name = 'LogSearch1764700000000';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const [table, columns] of indexes) await c.addIndex(table, columns);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const [table, columns] of [...indexes].reverse()) await c.dropIndex(table, columns);
  }
}
