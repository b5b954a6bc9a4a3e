import type { QueryRunner } from 'typeorm';
import type { RepeatableMigration } from './repeatable';

/** Adds `users.proven_email_key`: the address whose mails the user has shown to read (docs/spec/extensions.md#j). */
export class ProvenAddresses1769200000000 implements RepeatableMigration {
  readonly name = 'ProvenAddresses1769200000000';

  async up(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'proven_email_key')) return;
    // Plain SQL, because TypeORM would copy the whole table on SQLite.
    await runner.query('ALTER TABLE users ADD COLUMN proven_email_key varchar(255) NULL');
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('users', 'proven_email_key')) {
      await runner.query('ALTER TABLE users DROP COLUMN proven_email_key');
    }
  }
}
