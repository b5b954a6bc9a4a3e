import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { deleteBatch, outboxFigures } from '../platform/outbox/settled-rows';
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
  ) {}

  /** Starts sending, including the mails that other processes queued. Only the server calls it. */
  startSending(): void {
    this.worker.startPolling();
  }

  async outboxStats(): Promise<OutboxStats> {
    const { waiting, ...figures } = await outboxFigures(this.database, this.clock, 'mail_outbox', mailStatus);
    return {
      pending: waiting,
      oldestPendingSeconds: figures.oldestWaitingSeconds,
      dead: figures.dead,
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
}
