import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/database';
import { timeOf } from '../../platform/database/sql';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { MailLimits } from '../mail-limits';
import { type FinalStatus, mailStatus } from '../mail-status';

/** A row that belongs to this process until its lease ends. `claim` is the random value of `claimed_by`. */
export interface ClaimedMail {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  /** Includes the current attempt. */
  readonly attempts: number;
  readonly expires: Date;
  readonly createdAt: Date;
  readonly claim: string;
  /** Start of the lease. */
  readonly claimedAt: Date;
}

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly attempts: number;
  readonly expires: unknown;
  readonly created_at: unknown;
}

/** The table `mail_outbox`. Any number of processes send from it; each mail has one owner at a time (ADR 0007). */
@Injectable()
export class OutboxRows {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: MailLimits,
  ) {}

  /** Inserts the row in the caller's transaction: the mail exists exactly when the change that it reports commits. */
  async insert(tx: Transaction, kind: string, payload: string, expires: Date): Promise<void> {
    const now = this.clock.now();
    await tx.affected(
      `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at)
       VALUES (?, ?, ?, ?, 0, ?, ?, ?)`,
      [this.random.uuid(), kind, payload, mailStatus.waiting, now, expires, now],
    );
  }

  /** Claims up to `wanted` due mails, the longest due first. */
  async claim(wanted: number): Promise<ClaimedMail[]> {
    const now = this.clock.now();
    // Reads more rows than wanted, because other replicas read the same rows and claim some of them first.
    const rows = await this.database.rows<Row>(
      `SELECT id, kind, payload, attempts, expires, created_at FROM mail_outbox
       WHERE status = ? AND next_attempt_at <= ? AND (claimed_until IS NULL OR claimed_until <= ?)
       ORDER BY next_attempt_at LIMIT ${4 * Math.trunc(wanted)}`,
      [mailStatus.waiting, now, now],
    );
    const claimed: ClaimedMail[] = [];
    for (const row of rows) {
      if (claimed.length === wanted) break;
      const claim = this.random.uuid();
      if (await this.take(row, claim, now)) {
        const { id, kind, payload, attempts } = row;
        const [expires, createdAt] = [timeOf(row.expires), timeOf(row.created_at)];
        claimed.push({ id, kind, payload, attempts: attempts + 1, expires, createdAt, claim, claimedAt: now });
      }
    }
    return claimed;
  }

  /**
   * All replicas compete for the row. The first UPDATE wins, and its replica owns the row until the lease ends. The
   * other UPDATEs match no row, because the row is leased or not due. Their replicas go on to the next row.
   */
  private take(row: Row, claim: string, now: Date): Promise<boolean> {
    return this.database.won(
      `UPDATE mail_outbox SET claimed_by = ?, claimed_until = ?, attempts = attempts + 1
       WHERE id = ? AND status = ? AND next_attempt_at <= ? AND (claimed_until IS NULL OR claimed_until <= ?)`,
      [claim, new Date(now.getTime() + this.limits.leaseMs), row.id, mailStatus.waiting, now, now],
    );
  }

  /**
   * Sets the final status and deletes the payload, except for a mail that is given up: an administrator may retry it until
   * it expires. After the lease has ended, another process may have claimed the
   * mail. `claimed_by` lets only the current owner win. The former owner gets false and changes nothing.
   */
  settle(mail: ClaimedMail, status: FinalStatus): Promise<boolean> {
    return this.database.won(
      `UPDATE mail_outbox SET status = ?, ${status === mailStatus.dead ? '' : 'payload = NULL, '}sent_at = ?, claimed_by = NULL, claimed_until = NULL
       WHERE id = ? AND status = ? AND claimed_by = ?`,
      [status, status === mailStatus.sent ? this.clock.now() : null, mail.id, mailStatus.waiting, mail.claim],
    );
  }

  /**
   * Gives the mail back: any process may claim it from `at` on. As in `settle`, only the current owner wins.
   * @param charged false when the mail itself was not at fault, so that an outage does not use up its attempts
   */
  giveBack(mail: ClaimedMail, at: Date, charged: boolean): Promise<boolean> {
    return this.database.won(
      `UPDATE mail_outbox SET next_attempt_at = ?, attempts = attempts - ?, claimed_by = NULL, claimed_until = NULL
       WHERE id = ? AND status = ? AND claimed_by = ?`,
      [at, charged ? 0 : 1, mail.id, mailStatus.waiting, mail.claim],
    );
  }
}
