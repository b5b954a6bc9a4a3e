import { Injectable } from '@nestjs/common';
import type { Sql } from '../platform/database/sql';
import { changeType } from '../shared/change-type';
import { Clock } from '../shared/clock';
import { identityKey } from '../shared/identity-key';
import { type PlacedValue, placesOf } from './user-columns';
import { type NewUser, newRow } from './user-values';
import { UserWords } from './user-words.repository';

export type AdoptedUser = NewUser & { readonly uid: string };

/** What the unique keys say of an account that exists. */
export interface ExistingUser {
  readonly uid: string;
  readonly loginName: string;
  readonly loginNameKey: string;
  readonly emailKey: string | null;
  readonly deleted: boolean;
}

/** Reads and writes many users with few statements, for an adoption. */
@Injectable()
export class AdoptedUsers {
  constructor(
    private readonly clock: Clock,
    private readonly words: UserWords,
  ) {}

  /** Finds every account that has the uid, the login name or the address of one of these users. */
  async existing(sql: Sql, users: readonly NewUser[]): Promise<ExistingUser[]> {
    const found = new Map<string, ExistingUser>();
    const look = async (column: string, values: readonly string[]) => {
      if (values.length === 0) return;
      const rows = await sql.rows<Omit<ExistingUser, 'deleted'> & { deletedAt: unknown }>(
        `SELECT uid, login_name AS loginName, login_name_key AS loginNameKey, email_key AS emailKey,
         deleted_at AS deletedAt FROM users WHERE ${column} IN (${marks(values)})`,
        values,
      );
      for (const { deletedAt, ...row } of rows) found.set(row.uid, { ...row, deleted: deletedAt !== null });
    };
    await look(
      'login_name_key',
      users.map(({ loginName }) => identityKey(loginName)),
    );
    await look(
      'email_key',
      users.flatMap(({ email }) => (email === null ? [] : identityKey(email))),
    );
    await look(
      'uid',
      users.flatMap(({ uid }) => uid ?? []),
    );
    return [...found.values()];
  }

  /**
   * Inserts the users and the first entries of their password histories.
   * Race: two adoptions, or an adoption and any other creation. The unique keys decide. The loser gets the error of the
   * duplicate, and its transaction must be rolled back.
   */
  async insert(sql: Sql, users: readonly AdoptedUser[]): Promise<void> {
    const now = this.clock.now();
    const rows = users.map((user) => newRow(user, now));
    await insertRows(
      sql,
      'users',
      rows.map((row) => placesOf({ ...row, nicknameKey: row.nickname })),
    );
    await this.words.add(sql, rows);
    const hashes = users.filter(({ passwordHash }) => passwordHash !== null);
    if (hashes.length === 0) return;
    await insertRows(
      sql,
      'user_change_pwd_logs',
      hashes.map(({ uid, passwordHash, passwordSetAt }) =>
        Object.entries({
          user_id: uid,
          type: changeType.first,
          password: passwordHash,
          created_at: passwordSetAt ?? now,
        }).map(([column, value]) => ({ column, place: '?', value })),
      ),
    );
  }
}

const marks = (values: readonly unknown[]) => values.map(() => '?').join(', ');

async function insertRows(sql: Sql, table: string, rows: readonly (readonly PlacedValue[])[]): Promise<void> {
  const columns = (rows[0] ?? []).map(({ column }) => column);
  const places = rows.map((row) => `(${row.map(({ place }) => place).join(', ')})`).join(', ');
  const values = rows.flat().map(({ value }) => value);
  await sql.affected(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${places}`, values);
}
