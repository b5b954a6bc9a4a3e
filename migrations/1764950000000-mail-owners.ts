import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds `mail_outbox.user_id`, so that the deletion of a user finds the mails that are not sent yet (ADR 0025). */
export class MailOwners1764950000000 implements RepeatableMigration {
  readonly name = 'MailOwners1764950000000';

  async up(runner: QueryRunner): Promise<void> {
    if (!(await runner.hasColumn('mail_outbox', 'user_id'))) {
      // Plain SQL, because TypeORM would copy the whole table on SQLite.
      await runner.query('ALTER TABLE mail_outbox ADD COLUMN user_id varchar(36) NULL');
    }
    await new Columns(runner).addIndex('mail_outbox', ['user_id', 'status']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new Columns(runner).dropIndex('mail_outbox', ['user_id', 'status']);
    if (await runner.hasColumn('mail_outbox', 'user_id')) {
      await runner.query('ALTER TABLE mail_outbox DROP COLUMN user_id');
    }
  }
}
