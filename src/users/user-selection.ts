import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import type { SqlValue } from '../platform/database/sql';
import type { MfaType, Provider } from './user.entity';

/** All conditions apply together. Without any, every user who is not deleted is selected. */
export interface UserConditions {
  readonly tenantId?: string;
  readonly status?: number;
  readonly provider?: Provider;
  readonly mfaType?: MfaType;
  readonly isAdmin?: boolean;
  readonly hasAuthenticator?: boolean;
  readonly mustChangePassword?: boolean;
}

/**
 * Reads the users of an operation on many of them in the order of their ids. An id never changes, so that an interrupted
 * operation can continue after the last one.
 */
@Injectable()
export class UserSelection {
  constructor(private readonly database: Database) {}

  async count(conditions: UserConditions): Promise<number> {
    const { text, values } = where(conditions);
    const row = await this.database.row<{ n: unknown }>(`SELECT COUNT(*) AS n FROM users WHERE ${text}`, values);
    return Number(row?.n);
  }

  /** @param after the last id of the page before; empty for the first page */
  async next(conditions: UserConditions, after: string, limit: number): Promise<string[]> {
    const { text, values } = where(conditions);
    const rows = await this.database.rows<{ uid: string }>(
      `SELECT uid FROM users WHERE uid > ? AND ${text} ORDER BY uid LIMIT ${Math.trunc(limit)}`,
      [after, ...values],
    );
    return rows.map(({ uid }) => uid);
  }

  /**
   * Locks the user until the transaction ends.
   * Races with a change of the conditions and a deletion, on any replica. If one of them commits first, this UPDATE
   * matches no row and the user is left alone. If it comes later, it waits for the transaction.
   */
  hold(tx: Transaction, uid: string, conditions: UserConditions): Promise<boolean> {
    const { text, values } = where(conditions);
    return tx.won(`UPDATE users SET held = held + 1 WHERE uid = ? AND ${text}`, [uid, ...values]);
  }

  /**
   * Invalidates everything that was issued to the user, as `UsersRepository.endEverythingIssued` does.
   * Races with a change of the conditions and a deletion, on any replica. If one of them commits first, this UPDATE
   * matches no row and the user is left alone. If it comes later, it waits for the transaction. Races with logins and
   * refreshes too: what they insert under the former version is invalid.
   */
  endEverythingIssued(tx: Transaction, uid: string, conditions: UserConditions): Promise<boolean> {
    const { text, values } = where(conditions);
    return tx.won(`UPDATE users SET credential_version = credential_version + 1 WHERE uid = ? AND ${text}`, [
      uid,
      ...values,
    ]);
  }
}

/**
 * COALESCE keeps the optimizer from the other indexes. They are not in the order of the ids, so that it would sort all
 * users of a tenant for each page. With the primary key all pages together read the table once.
 */
function where(conditions: UserConditions) {
  const columns: readonly (readonly [column: string, value: SqlValue | undefined])[] = [
    ['tenant_id', conditions.tenantId],
    ['status', conditions.status],
    ['provider', conditions.provider],
    ['mfa_type', conditions.mfaType],
    ['is_admin', conditions.isAdmin],
    ['topt_secret IS NOT NULL', conditions.hasAuthenticator],
    ['must_change_password', conditions.mustChangePassword],
  ];
  const given = columns.filter((one): one is readonly [string, SqlValue] => one[1] !== undefined);
  return {
    text: ['deleted_at IS NULL', ...given.map(([column]) => `COALESCE(${column}, NULL) = ?`)].join(' AND '),
    values: given.map(([, value]) => value),
  };
}
