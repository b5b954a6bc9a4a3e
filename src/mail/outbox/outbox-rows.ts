import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/database';
import { timeOf } from '../../platform/database/sql';
import { type Lease, LeasedRows } from '../../platform/outbox/leased-rows';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { MailLimits } from '../mail-limits';
import { type FinalStatus, mailStatus } from '../mail-status';

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  /** Includes the current attempt. */
  readonly attempts: number;
  readonly expires: unknown;
  readonly created_at: unknown;
}

export interface NewMail {
  readonly kind: string;
  /** The mail in its sealed form. */
  readonly payload: string;
  readonly expires: Date;
  /** Whose mail it is. */
  readonly userId: string;
}

/** A row that belongs to this process until its lease ends. */
export interface ClaimedMail extends Row, Lease {
  readonly expires: Date;
  readonly createdAt: Date;
}

const table = {
  name: 'mail_outbox',
  key: 'id',
  columns: ['id', 'kind', 'payload', 'attempts', 'expires', 'created_at'],
} as const;

/** The table `mail_outbox`. Any number of processes send from it; each mail has one owner at a time (ADR 0007). */
@Injectable()
export class OutboxRows {
  private readonly rows: LeasedRows<Row>;

  constructor(
    database: Database,
    private readonly clock: Clock,
    private readonly random: Random,
    limits: MailLimits,
  ) {
    this.rows = new LeasedRows(table, limits.leaseMs, { database, clock, random });
  }

  /** Inserts the row in the caller's transaction: the mail exists exactly when the change that it reports commits. */
  async insert(tx: Transaction, { kind, payload, expires, userId }: NewMail): Promise<void> {
    const now = this.clock.now();
    await tx.affected(
      `INSERT INTO mail_outbox (id, kind, payload, status, attempts, next_attempt_at, expires, created_at, user_id)
       VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?)`,
      [this.random.uuid(), kind, payload, mailStatus.waiting, now, expires, now, userId],
    );
  }

  /** Claims up to `wanted` due mails, the longest due first. */
  async claim(wanted: number): Promise<ClaimedMail[]> {
    const mails = await this.rows.claim(mailStatus.waiting, wanted);
    return mails.map((mail) => ({ ...mail, expires: timeOf(mail.expires), createdAt: timeOf(mail.created_at) }));
  }

  /**
   * Sets the final status and deletes the payload, except for a mail that is given up: an administrator may retry it until
   * it expires.
   * @returns false if another process has claimed the mail
   */
  settle(mail: ClaimedMail, status: FinalStatus): Promise<boolean> {
    if (status === mailStatus.dead) return this.rows.end(mail, mailStatus.waiting, { status });
    const sent_at = status === mailStatus.sent ? this.clock.now() : null;
    return this.rows.end(mail, mailStatus.waiting, { status, payload: null, sent_at });
  }

  /**
   * Gives the mail back: any process may claim it from `at` on.
   * @param charged false when the mail itself was not at fault, so that an outage does not use up its attempts
   */
  giveBack(mail: ClaimedMail, at: Date, charged: boolean): Promise<boolean> {
    const attempts = mail.attempts - (charged ? 0 : 1);
    return this.rows.end(mail, mailStatus.waiting, { next_attempt_at: at, attempts });
  }
}
