import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds `mail_outbox.urgency`, so that a mail that a person waits for overtakes notices (ADR 0007). 1.1.0 and older write 0. */
export class MailUrgency1770900000000 implements RepeatableMigration {
  readonly name = 'MailUrgency1770900000000';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('mail_outbox', 'urgency'))) {
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      await runner.query('ALTER TABLE mail_outbox ADD COLUMN urgency integer NOT NULL DEFAULT 0');
    }
    await new Columns(runner).addIndex('mail_outbox', ['urgency', 'status', 'next_attempt_at']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new Columns(runner).dropIndex('mail_outbox', ['urgency', 'status', 'next_attempt_at']);
    if (await runner.hasColumn('mail_outbox', 'urgency')) {
      await runner.query('ALTER TABLE mail_outbox DROP COLUMN urgency');
    }
  }
}
