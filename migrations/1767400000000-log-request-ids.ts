import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

const tables = ['login_logs', 'audit_logs'] as const;
const columns = ['request_id', 'created_at'];

/** Indexes with which administrators find what one request has done (docs/adr/0027-log-search.md). */
export class LogRequestIds1767400000000 implements RepeatableMigration {
  readonly name = 'LogRequestIds1767400000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of tables) await new Columns(runner).addIndex(table, columns);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of tables) await new Columns(runner).dropIndex(table, columns);
  }
}
