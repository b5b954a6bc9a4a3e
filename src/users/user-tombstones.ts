import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { type UserTrace, UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { placesOf } from './user-columns';
import { toldUsers } from './told-tables';
import { erasedValues } from './user-fields';

export { tombstoneKeys } from './user-fields';

/** Logins that began before the deletion have ended after this time, with all rows that they write. */
const settledSeconds = 3600;

/** The rows of deleted users. */
@Injectable()
export class UserTombstones implements UserTrace {
  readonly tables = ['user_change_pwd_logs', 'user_org_units', 'user_tenants', 'user_words'];
  readonly told = toldUsers;

  constructor(
    traces: UserTraces,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    traces.register(this);
  }

  /** Writes what each column declares in `userFields`. The transaction must hold the row of the user. */
  async bury(tx: Transaction, uid: string): Promise<void> {
    const erased = placesOf(erasedValues({ uid, at: this.clock.now() }));
    await tx.won(
      `UPDATE users SET ${erased.map(({ column, place }) => `${column} = ${place}`).join(', ')}
       WHERE uid = ? AND deleted_at IS NULL`,
      [...erased.map(({ value }) => value), uid],
    );
  }

  async erase(tx: Transaction, uid: string): Promise<void> {
    for (const table of this.tables) await tx.affected(`DELETE FROM ${table} WHERE user_id = ?`, [uid]);
  }

  /** Deleted users of whom traces may be left: a batch of them, the oldest first. */
  async unsettled(limit: number): Promise<string[]> {
    const rows = await this.database.rows<{ uid: string }>(
      `SELECT uid FROM users WHERE erasing_since <= ? ORDER BY erasing_since LIMIT ${Math.trunc(limit)}`,
      [this.clock.secondsFromNow(-settledSeconds)],
    );
    return rows.map(({ uid }) => uid);
  }

  /** Nothing is left of this user. Of parallel calls, one marks the tombstone. */
  async markSettled(uid: string): Promise<void> {
    await this.database.won('UPDATE users SET erasing_since = NULL WHERE uid = ? AND erasing_since IS NOT NULL', [uid]);
  }
}
