import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThanOrEqual, type Repository } from 'typeorm';
import { Clock } from '../shared/clock';
import { sha256Hex } from '../platform/crypto/key-ring';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import { CaptchaReceipt } from './captcha-receipt.entity';

/** A receipt outlives its token. A replica whose clock is ahead must not purge it while another accepts the token. */
const marginSeconds = 60;
const largestBatch = 1000;

/**
 * The table `captcha_receipts`, the spent tokens: a hash of each token, kept until the token has expired
 * (docs/spec/attacks.md#w15). No row tells whose token it was.
 */
@Injectable()
export class CaptchaReceipts {
  private readonly rows: EntityRows<CaptchaReceipt>;

  constructor(
    @InjectRepository(CaptchaReceipt) rows: Repository<CaptchaReceipt>,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  /**
   * Of parallel logins with one token, on any replica, the first INSERT takes the primary key and wins. The others hit
   * the duplicate key and get `false`. Their callers answer CAPTCHA_401001.
   * @param identity identifies the token and is the same for every encoding of it
   * @param expires when the token expires by itself
   */
  claim(identity: string, expires: Date): Promise<boolean> {
    const kept = new Date(expires.getTime() + marginSeconds * 1000);
    return this.rows.added(this.database, { tokenHash: sha256Hex(identity), expires: kept });
  }

  /** Makes a token usable again that no provider could judge. Only the caller that claimed the token may release it. */
  async release(identity: string): Promise<void> {
    await this.rows.remove(this.database, { tokenHash: sha256Hex(identity) });
  }

  /**
   * Deletes by primary key: a range scan would lock the index range into which logins insert. Several processes may
   * run it at the same time.
   * @param limit maximum number of rows, 1 to 1000
   * @returns the number of deleted rows; fewer than `limit` when none are left or another process deleted some first
   */
  async purgeExpired(limit: number): Promise<number> {
    if (!Number.isInteger(limit) || limit < 1 || limit > largestBatch) throw new RangeError('limit must be 1 to 1000');
    const selection = { order: { expires: 'ASC' }, limit } as const;
    const expired = await this.rows.find({ expires: LessThanOrEqual(this.clock.now()) }, selection);
    if (expired.length === 0) return 0;
    return this.rows.remove(this.database, { tokenHash: In(expired.map(({ tokenHash }) => tokenHash)) });
  }
}
