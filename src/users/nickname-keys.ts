import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';

/** Rows of one statement. */
const batchRows = 1000;

const stale = "COALESCE(nickname_key, '') <> COALESCE(LOWER(nickname), '')";

/**
 * Repairs `users.nickname_key` where a replica of version 1.0.0 has written the nickname alone, during a roll-out or after
 * a roll-back. Until then the search does not find such a user by the new nickname, and a user whom that replica has
 * deleted keeps the former nickname in the key (ADR 0025).
 */
@Injectable()
export class NicknameKeys {
  constructor(private readonly database: Database) {}

  /** Reads all users in batches without locks, and locks only rows that it changes. */
  async repair(): Promise<void> {
    for (let from = ''; ;) {
      const rows = await this.database.rows<{ uid: string; stale: unknown }>(
        `SELECT uid, ${stale} AS stale FROM users WHERE uid > ? ORDER BY uid LIMIT ${batchRows}`,
        [from],
      );
      const last = rows.at(-1);
      if (last === undefined) return;
      const uids = rows.filter((row) => Number(row.stale) === 1).map(({ uid }) => uid);
      if (uids.length > 0) await this.refill(uids);
      from = last.uid;
    }
  }

  /** Races with a change of the nickname: the row has one writer at a time, and each of them leaves a key that is right. */
  private refill(uids: readonly string[]): Promise<number> {
    return this.database.affected(
      `UPDATE users SET nickname_key = LOWER(nickname) WHERE uid IN (${uids.map(() => '?').join(', ')}) AND ${stale}`,
      uids,
    );
  }
}
