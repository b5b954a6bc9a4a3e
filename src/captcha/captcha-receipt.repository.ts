import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { isDuplicate } from '../platform/database/store-failure';

/** A receipt outlives its token. A replica whose clock is ahead must not purge it while another accepts the token. */
const marginSeconds = 60;
const largestBatch = 1000;

/** The spent tokens: a hash of each token, kept until the token has expired (docs/spec/attacks.md#w15). */
@Injectable()
export class CaptchaReceipts {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * Of parallel logins with one token, on any replica, the first INSERT takes the primary key and wins. The others hit
   * the duplicate key and get `false`. Their callers answer CAPTCHA_401001.
   * @param identity identifies the token and is the same for every encoding of it
   * @param expires when the token expires by itself
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

  /** Makes a token usable again that no provider could judge. Only the caller that claimed the token may release it. */
  async release(identity: string): Promise<void> {
    await this.database.affected('DELETE FROM captcha_receipts WHERE token_hash = ?', [sha256Hex(identity)]);
  }

  /**
   * Deletes by primary key: a range scan would lock the index range into which logins insert. Several processes may
   * run it at the same time.
   * @param limit maximum number of rows, 1 to 1000
   * @returns the number of deleted rows; fewer than `limit` when none are left or another process deleted some first
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
