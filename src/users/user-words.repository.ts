import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { wordsOf } from '../shared/search-words';
import type { User } from './user.entity';

type Named = Pick<User, 'uid' | 'loginName' | 'email' | 'nickname' | 'tenantId'>;

const named = 'SELECT uid, login_name AS loginName, email, nickname, tenant_id AS tenantId FROM users';

/** Rows of one INSERT: three values each, and SQLite takes 32,766. */
const insertedRows = 5000;

/** Users of one round of a repair. */
const batchRows = 500;

/** The table `user_words`: the words by which each user is found. They change in the transaction that changes the names. */
@Injectable()
export class UserWords {
  constructor(private readonly database: Database) {}

  /** The words of users who were inserted in this transaction. */
  async add(sql: Sql, users: readonly Named[]): Promise<void> {
    const rows = users.flatMap((user) => wordsOf(user).map((word) => [user.uid, word, user.tenantId]));
    for (let n = 0; n < rows.length; n += insertedRows) {
      const some = rows.slice(n, n + insertedRows);
      await sql.affected(
        `INSERT INTO user_words (user_id, word, tenant_id) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
        some.flat(),
      );
    }
  }

  /**
   * Gives the user the words of the present names. The transaction must hold the row of the user, so of two changes the
   * second one waits, then reads what the first one has written, and leaves the words of both.
   */
  async follow(sql: Sql, uid: string): Promise<void> {
    const user = await sql.row<Named>(`${named} WHERE uid = ? AND deleted_at IS NULL`, [uid]);
    await sql.affected('DELETE FROM user_words WHERE user_id = ?', [uid]);
    if (user !== undefined) await this.add(sql, [user]);
  }

  /** Makes a guarded change of a name, and the words follow if it has won. */
  following(sql: Sql, uid: string, change: (sql: Sql) => Promise<boolean>): Promise<boolean> {
    return sql.together(async (tx) => {
      const won = await change(tx);
      if (won) await this.follow(tx, uid);
      return won;
    });
  }

  /**
   * Repairs the words where a replica of an earlier version has written a name alone, during a roll-out or after a
   * roll-back. Until then the search finds such a user only as version 1.0.0 does. Reads all users in batches without locks,
   * and locks only those whose words differ.
   */
  async repair(): Promise<void> {
    for (let from = ''; ;) {
      const users = await this.database.rows<Named & { gone: unknown }>(
        `${named.replace(' FROM', ', deleted_at IS NOT NULL AS gone FROM')} WHERE uid > ? ORDER BY uid LIMIT ${batchRows}`,
        [from],
      );
      const last = users.at(-1);
      if (last === undefined) return;
      const stored = await this.stored(users.map(({ uid }) => uid));
      for (const user of users) {
        const wanted = Number(user.gone) === 1 ? [] : wordsOf(user).map((word) => `${user.tenantId} ${word}`);
        const present = stored.get(user.uid) ?? new Set();
        if (wanted.length !== present.size || wanted.some((word) => !present.has(word))) await this.refill(user.uid);
      }
      from = last.uid;
    }
  }

  private async stored(uids: readonly string[]): Promise<Map<string, Set<string>>> {
    const keys = filledUp(uids);
    const rows = await this.database.rows<{ uid: string; word: string; tenantId: string }>(
      `SELECT user_id AS uid, word, tenant_id AS tenantId FROM user_words
       WHERE user_id IN (${keys.map(() => '?').join(', ')})`,
      keys,
    );
    const found = new Map<string, Set<string>>();
    for (const { uid, word, tenantId } of rows) {
      found.set(uid, (found.get(uid) ?? new Set()).add(`${tenantId} ${word}`));
    }
    return found;
  }

  /** Races with a change of a name: the row of the user has one writer at a time, and each of them leaves the right words. */
  private refill(uid: string): Promise<unknown> {
    return this.database.transaction(async (tx) => {
      await tx.affected('UPDATE users SET held = held + 1 WHERE uid = ?', [uid]);
      await this.follow(tx, uid);
    });
  }
}
