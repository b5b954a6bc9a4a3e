import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { type Sql, timeOrNull } from '../platform/database/sql';
import { UserTraces } from '../platform/database/user-traces';
import { deleteBatch } from '../platform/outbox/settled-rows';
import { Clock } from '../shared/clock';
import { mailStatus } from './mail-status';
import { MailWorker } from './outbox/mail-worker';
import { SkippedMails } from './outbox/skipped-mails';

export interface OutboxStats {
  readonly pending: number;
  /** 0 when nothing is pending. */
  readonly oldestPendingSeconds: number;
  /** Mails that were given up and are not purged yet. */
  readonly dead: number;
  /** Counted by this process since its start. The other numbers cover all replicas. */
  readonly skipped: number;
}

/** The outbox as the operator sees it: metrics, `doctor`, `purge`. */
@Injectable()
export class MailOutbox {
  constructor(
    private readonly database: Database,
    private readonly skipped: SkippedMails,
    private readonly worker: MailWorker,
    private readonly clock: Clock,
    traces: UserTraces,
  ) {
    traces.register({
      tables: ['mail_outbox'],
      erase: (tx, uid) => this.forgetUser(tx, uid),
      settle: (uid) => this.forgetUser(this.database, uid),
    });
  }

  /** Starts sending, including the mails that other processes queued. Only the server calls it. */
  startSending(): void {
    this.worker.startPolling();
  }

  async outboxStats(): Promise<OutboxStats> {
    const rows = await this.database.rows<{ status: number; count: number; oldest: unknown }>(
      `SELECT status, COUNT(*) AS count, MIN(created_at) AS oldest FROM mail_outbox
       WHERE status IN (?, ?) GROUP BY status`,
      [mailStatus.waiting, mailStatus.dead],
    );
    const waiting = rows.find((row) => row.status === mailStatus.waiting);
    const oldest = timeOrNull(waiting?.oldest);
    const age = oldest === null ? 0 : (this.clock.now().getTime() - oldest.getTime()) / 1000;
    return {
      pending: Number(waiting?.count ?? 0),
      oldestPendingSeconds: Math.max(0, age),
      dead: Number(rows.find((row) => row.status === mailStatus.dead)?.count ?? 0),
      skipped: this.skipped.count,
    };
  }

  /** Sends all due mails now instead of at the next poll. */
  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  /**
   * Deletes one batch of mails that have a final status and were queued before `before`.
   * @returns the number of deleted mails; fewer than `limit` when none are left
   */
  purgeSettled(before: Date, limit: number): Promise<number> {
    const settled = { where: 'created_at < ? AND status <> ?', values: [before, mailStatus.waiting] };
    return deleteBatch(this.database, 'mail_outbox', settled, limit);
  }

  /**
   * Ends the mails of a deleted user that are not sent, and deletes their content.
   * Races with a worker that claims or settles such a mail, and with a retry by an administrator. Each of them is one
   * UPDATE that names the status it leaves. If this UPDATE comes first, theirs match no row. If a retry comes first, this
   * UPDATE finds the waiting mail. A worker that has read the content already sends the mail, and cannot settle it.
   */
  private async forgetUser(sql: Sql, userId: string): Promise<void> {
    await sql.affected(
      `UPDATE mail_outbox SET status = ?, payload = NULL, claimed_by = NULL, claimed_until = NULL
       WHERE user_id = ? AND status IN (?, ?)`,
      [mailStatus.expired, userId, mailStatus.waiting, mailStatus.dead],
    );
  }

  /**
   * Deletes the content of one batch of mails that were given up and have expired: nobody can retry them any more.
   * Race: a retry of such a mail matches no row, because it also compares `expires`.
   */
  async forgetExpired(limit: number): Promise<number> {
    const now = this.clock.now();
    const rows = await this.database.rows<{ id: string }>(
      `SELECT id FROM mail_outbox WHERE status = ? AND payload IS NOT NULL AND expires <= ? LIMIT ${Math.trunc(limit)}`,
      [mailStatus.dead, now],
    );
    if (rows.length === 0) return 0;
    return this.database.affected(
      `UPDATE mail_outbox SET payload = NULL WHERE id IN (${rows.map(() => '?').join(', ')}) AND status = ?`,
      [...rows.map(({ id }) => id), mailStatus.dead],
    );
  }
}
