import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Adds the session that a code confirms. NULL: the code finishes a login. */
export class PendingReauthentications1767620000000 implements RepeatableMigration {
  readonly name = 'PendingReauthentications1767620000000';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    await c.add('pending_logins', c.uuid('sid', { isNullable: true }));
  }

  async down(runner: QueryRunner): Promise<void> {
    if (await runner.hasColumn('pending_logins', 'sid')) await runner.dropColumn('pending_logins', 'sid');
  }
}
