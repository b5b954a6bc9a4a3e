import type { QueryRunner, Table } from 'typeorm';
import { wordsOf } from '../src/shared/search-words';
import { Columns } from './columns';
import type { RepeatableMigration } from './repeatable';

/** Of the orders of a list of users, for all tenants and for one. */
const indices = [
  ['last_login_success_time', 'uid'],
  ['tenant_id', 'created_at', 'uid'],
  ['tenant_id', 'last_login_success_time', 'uid'],
  ['tenant_id', 'status', 'login_name_key'],
];

/** Users of one statement. It locks no row of `users`. */
const batchRows = 500;

interface Named {
  readonly uid: string;
  readonly loginName: string;
  readonly email: string | null;
  readonly nickname: string | null;
  readonly tenantId: string;
}

/** Adds the words by which users are found, those of the existing users, and the orders of their list (ADR 0041). */
export class UserWords1769800000000 implements RepeatableMigration {
  readonly name = 'UserWords1769800000000';
  /** Each batch commits by itself: an interrupted run continues, and no login waits. */
  readonly transaction = false;

  tables(c: Columns): Table[] {
    return [
      c.table(
        'user_words',
        [c.uuid('user_id', { isPrimary: true }), c.text('word', 64, { isPrimary: true }), c.text('tenant_id', 64)],
        [{ columns: ['word', 'user_id'] }, { columns: ['tenant_id', 'word', 'user_id'] }],
      ),
    ];
  }

  async up(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const table of this.tables(c)) await c.create(table);
    for (const columns of indices) await c.addIndex('users', columns);
    await fill(runner);
  }

  async down(runner: QueryRunner): Promise<void> {
    const c = new Columns(runner);
    for (const columns of [...indices].reverse()) await c.dropIndex('users', columns);
    for (const { name } of this.tables(c)) await runner.dropTable(name, true);
  }
}

/**
 * Continues with the last user who has words: the rows are written in the order of the ids. A replica of the
 * former version that changes a name meanwhile writes no words, and `purge` repairs them.
 */
async function fill(runner: QueryRunner): Promise<void> {
  const [last] = (await runner.query('SELECT MAX(user_id) AS uid FROM user_words')) as { uid: string | null }[];
  const ignore = runner.dataSource.options.type === 'mysql' ? 'IGNORE' : 'OR IGNORE';
  let after = '>=';
  for (let from = last?.uid ?? ''; ; after = '>') {
    const users = (await runner.query(
      `SELECT uid, login_name AS loginName, email, nickname, tenant_id AS tenantId FROM users
       WHERE uid ${after} ? AND deleted_at IS NULL ORDER BY uid LIMIT ${batchRows}`,
      [from],
    )) as Named[];
    const to = users.at(-1)?.uid;
    if (to === undefined) return;
    const rows = users.flatMap((user) => wordsOf(user).map((word) => [user.uid, word, user.tenantId]));
    for (let n = 0; n < rows.length; n += 5000) {
      const some = rows.slice(n, n + 5000);
      await runner.query(
        `INSERT ${ignore} INTO user_words (user_id, word, tenant_id) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
        some.flat(),
      );
    }
    from = to;
  }
}
