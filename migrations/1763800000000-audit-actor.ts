import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** `audit_logs.actor_id`: who did it, where that is neither the account's owner nor the service (the command line). */
export class AuditActor1763800000000 implements RepeatableMigration {
  readonly name = 'AuditActor1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    // MySQL commits a change of the schema at once: a process that is killed before it notes the migration runs it again.
    if (await runner.hasColumn('audit_logs', 'actor_id')) return;
    // Plain, because TypeORM would copy the whole table on SQLite. The collation is that of the table, binary.
    await runner.query('ALTER TABLE audit_logs ADD COLUMN actor_id varchar(255) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('audit_logs', 'actor_id')) {
      await runner.query('ALTER TABLE audit_logs DROP COLUMN actor_id');
    }
  }
}
