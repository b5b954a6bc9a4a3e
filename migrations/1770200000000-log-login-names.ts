import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

const columns = ['login_name', 'created_at'];

/**
 * An index with which administrators find the attempts under a name that nobody has (docs/adr/0043-logs-for-people.md). InnoDB
 * builds it while logins go on writing.
 */
export class LogLoginNames1770200000000 implements RepeatableMigration {
  readonly name = 'LogLoginNames1770200000000';

  async up(runner: QueryRunner): Promise<void> {
    await new Columns(runner).addIndex('login_logs', columns);
  }

  async down(runner: QueryRunner): Promise<void> {
    await new Columns(runner).dropIndex('login_logs', columns);
  }
}
