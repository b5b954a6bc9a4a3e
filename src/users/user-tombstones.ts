import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { Clock } from '../shared/clock';
import { placesOf } from './user-columns';
import { erasedValues } from './user-fields';

export { tombstoneKeys, tombstoneName } from './user-fields';

/** Logins that began before the deletion have ended after this time, with all rows that they write. */
const settledSeconds = 3600;

/** The rows of deleted users. */
@Injectable()
export class UserTombstones {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Writes what each column declares in `userFields`. The transaction must hold the row of the user. */
  async bury(tx: Transaction, uid: string): Promise<void> {
    const erased = placesOf(erasedValues({ uid, at: this.clock.now() }));
    await tx.won(
      `UPDATE users SET ${erased.map(({ column, place }) => `${column} = ${place}`).join(', ')}
       WHERE uid = ? AND deleted_at IS NULL`,
      [...erased.map(({ value }) => value), uid],
    );
  }

  /** Deleted users whose names may still be in the logs: a batch of them, the oldest first. */
  async unsettled(limit: number): Promise<string[]> {
    const rows = await this.database.rows<{ uid: string }>(
      `SELECT uid FROM users WHERE erasing_since <= ? ORDER BY erasing_since LIMIT ${Math.trunc(limit)}`,
      [this.clock.secondsFromNow(-settledSeconds)],
    );
    return rows.map(({ uid }) => uid);
  }

  /** Erases the traces that remain besides the logs. Of parallel calls, one marks the tombstone. */
  async settle(uid: string): Promise<void> {
    await this.database.affected(
      `UPDATE login_tokens SET ip = NULL, user_agent = NULL
       WHERE user_identity = ? AND token_type = 'refresh' AND jti = sid`,
      [uid],
    );
    await this.database.affected('DELETE FROM known_browsers WHERE user_id = ?', [uid]);
    await this.database.won('UPDATE users SET erasing_since = NULL WHERE uid = ? AND erasing_since IS NOT NULL', [uid]);
  }
}
