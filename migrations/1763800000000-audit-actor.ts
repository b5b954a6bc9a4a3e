import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `audit_logs.actor_id`: the actor, if not the account's owner or the service (used by the command line). */
export class AuditActor1763800000000 implements RepeatableMigration {
  readonly name = 'AuditActor1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    // MySQL commits DDL at once. If the process is killed before the migration is recorded, the migration runs again.
    if (await runner.hasColumn('audit_logs', 'actor_id')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite. The column takes the table's binary collation.
    await runner.query('ALTER TABLE audit_logs ADD COLUMN actor_id varchar(255) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('audit_logs', 'actor_id')) {
      await runner.query('ALTER TABLE audit_logs DROP COLUMN actor_id');
    }
  }
}
