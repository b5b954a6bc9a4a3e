import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../platform/database/database';
import { timeOf } from '../platform/database/sql';
import { Clock } from '../shared/clock';
import { mailStatus } from './mail-status';
import { MailWorker } from './outbox/mail-worker';

export type MailStatusName = keyof typeof mailStatus;

/** A row of the outbox without its content and its recipient. */
export interface QueuedMailRow {
  readonly id: string;
  readonly kind: string;
  readonly status: MailStatusName;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly nextAttemptAt: Date;
  readonly expires: Date;
}

export interface MailRows {
  readonly items: readonly QueuedMailRow[];
  /** The time in milliseconds and the id of the last item, or null when there are no more. */
  readonly next: readonly [createdAt: number, id: string] | null;
}

/** `unknown`: there is no such mail, or it was not given up. `gone`: it has expired, or its content was deleted. */
export type RetryOutcome = 'queued' | 'unknown' | 'gone';

type Row = Record<'created_at' | 'next_attempt_at' | 'expires', unknown> &
  Pick<QueuedMailRow, 'id' | 'kind' | 'attempts'> & { readonly status: number };

const names = Object.fromEntries(Object.entries(mailStatus).map(([name, value]) => [value, name])) as Record<
  number,
  MailStatusName
>;

/** The outbox for administrators: which mails there are, and another try for one that was given up. */
@Injectable()
export class QueuedMails {
  constructor(
    private readonly database: Database,
    private readonly worker: MailWorker,
    private readonly clock: Clock,
  ) {}

  /** The newest mails first. @param limit at most 1000 */
  async list(status: MailStatusName | undefined, limit: number, after?: MailRows['next']): Promise<MailRows> {
    const only = status === undefined ? '' : 'status = ? AND';
    const place = after ? 'AND created_at <= ? AND (created_at < ? OR id < ?)' : '';
    const at = after ? new Date(after[0]) : undefined;
    const rows = await this.database.rows<Row>(
      `SELECT id, kind, status, attempts, created_at, next_attempt_at, expires FROM mail_outbox
       WHERE ${only} created_at > ? ${place} ORDER BY created_at DESC, id DESC LIMIT ${limit <= 200 ? 201 : 1001}`,
      [
        ...(status === undefined ? [] : [mailStatus[status]]),
        new Date(0),
        ...(at === undefined || !after ? [] : [at, at, after[1]]),
      ],
    );
    const items = rows.slice(0, limit).map((row) => ({
      id: row.id,
      kind: row.kind,
      status: names[row.status]!,
      attempts: row.attempts,
      createdAt: timeOf(row.created_at),
      nextAttemptAt: timeOf(row.next_attempt_at),
      expires: timeOf(row.expires),
    }));
    const last = items.at(-1);
    return { items, next: last !== undefined && rows.length > limit ? [last.createdAt.getTime(), last.id] : null };
  }

  /**
   * Queues a mail that was given up once more, as a new one: without attempts, due at once.
   * Race: two retries, on any replica. The first UPDATE wins; the other one finds a waiting mail. A worker whose lease has
   * ended cannot settle the mail, because `claimed_by` is empty or that of another worker. `purge` deletes no mail that
   * waits.
   */
  async retry(tx: Transaction, id: string): Promise<RetryOutcome> {
    const now = this.clock.now();
    const won = await tx.won(
      `UPDATE mail_outbox SET status = ?, attempts = 0, next_attempt_at = ?, claimed_by = NULL, claimed_until = NULL
       WHERE id = ? AND status = ? AND payload IS NOT NULL AND expires > ?`,
      [mailStatus.waiting, now, id, mailStatus.dead, now],
    );
    if (won) {
      this.worker.nudge();
      return 'queued';
    }
    const row = await tx.row<{ status: number }>('SELECT status FROM mail_outbox WHERE id = ?', [id]);
    return row !== undefined && [mailStatus.dead, mailStatus.expired].includes(row.status as 2) ? 'gone' : 'unknown';
  }
}
