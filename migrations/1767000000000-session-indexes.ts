import type { QueryRunner } from 'typeorm';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

const table = 'login_tokens';

/** Each new index begins with the column of the former one, which it replaces, so a refresh maintains no further index. */
const indexes: readonly (readonly [former: string[], columns: string[]])[] = [
  // The first rows of the sessions of a user, without reading the access tokens.
  [['user_identity'], ['user_identity', 'token_type', 'sid']],
  // The newest and the oldest rows of a session.
  [['sid'], ['sid', 'created_at']],
];

/** Indexes with which the end and the list of sessions read no more rows after a flood of refreshes (ADR 0005). */
export class SessionIndexes1767000000000 implements RepeatableMigration {
  readonly name = 'SessionIndexes1767000000000';

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    // The former version needs an index at each moment.
    for (const [, columns] of indexes) await c.addIndex(table, columns);
    for (const [former] of indexes) await c.dropIndex(table, former);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const [former] of indexes) await c.addIndex(table, former);
    for (const [, columns] of indexes) await c.dropIndex(table, columns);
  }
}
