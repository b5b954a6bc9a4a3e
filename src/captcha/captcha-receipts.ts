import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';

/** A replica whose clock runs ahead must not forget a token that another one would still take. */
const marginSeconds = 60;
const largestBatch = 1000;

/** What has been spent: a hash of each token until it could no longer be used anyway (decisions.md 6, W15). */
@Injectable()
export class CaptchaReceipts {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Racers: parallel logins with one token, on any replica. The first INSERT has the primary key; the others meet a
   * duplicate and are told `false`, which they answer with CAPTCHA_401001.
   * @param identity what makes the token one: equal for every spelling of it
   * @param expires when the token dies by itself
   */
  async claim(identity: string, expires: Date): Promise<boolean> {
    try {
      await this.database.affected('INSERT INTO captcha_receipts (token_hash, expires) VALUES (?, ?)', [
        sha256Hex(identity),
        new Date(expires.getTime() + marginSeconds * 1000),
      ]);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Only by whoever claimed it: the token was never judged, and its owner may come again. */
  async release(identity: string): Promise<void> {
    await this.database.affected('DELETE FROM captcha_receipts WHERE token_hash = ?', [sha256Hex(identity)]);
  }

  /**
   * Deletes by primary key, so that no scan locks what logins insert meanwhile. Several processes may run it at once.
   * @param limit rows at most, 1 to 1000
   * @returns how many this call removed; fewer than `limit`: nothing is left, or another process was quicker
   */
  async purgeExpired(limit: number): Promise<number> {
    if (!Number.isInteger(limit) || limit < 1 || limit > largestBatch) throw new RangeError('limit must be 1 to 1000');
    const expired = await this.database.rows<{ token_hash: string }>(
      `SELECT token_hash FROM captcha_receipts WHERE expires <= ? ORDER BY expires LIMIT ${limit}`,
      [this.clock.now()],
    );
    if (expired.length === 0) return 0;
    return this.database.affected(
      `DELETE FROM captcha_receipts WHERE token_hash IN (${expired.map(() => '?').join(', ')})`,
      expired.map((row) => row.token_hash),
    );
  }
}
