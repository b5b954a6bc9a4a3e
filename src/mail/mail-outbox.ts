import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import type { ToldTable } from '../platform/database/told-rows';
import { UserTraces } from '../platform/database/user-traces';
import { Clock } from '../shared/clock';
import { mailStatus } from './mail-status';
import { MailAttempt } from './outbox/mail-attempt';
import { MailWorker } from './outbox/mail-worker';
import { OutboxRows } from './outbox/outbox-mail.repository';

export interface OutboxStats {
  readonly pending: number;
  /** 0 when nothing is pending. */
  readonly oldestPendingSeconds: number;
  /** Mails that were given up and are not purged yet. */
  readonly dead: number;
  /** Counted by this process since its start. The other numbers cover all replicas. */
  readonly skipped: number;
}

/** The content of a mail is sealed, and may have a code. */
const toldMails: ToldTable = {
  table: 'mail_outbox',
  section: 'mails',
  user: 'user_id',
  order: ['id'],
  columns: {
    ...{ id: 'value', kind: 'value', created_at: 'time', sent_at: 'time', expires: 'time', attempts: 'number' },
    status: Object.fromEntries(Object.entries(mailStatus).map(([name, value]) => [value, name])),
    ...{
      payload: 'withheld',
      urgency: 'internal',
      next_attempt_at: 'internal',
      claimed_by: 'internal',
      claimed_until: 'internal',
    },
  },
};

/** The outbox as the operator sees it: metrics, `doctor`, `purge`. */
@Injectable()
export class MailOutbox {
  constructor(
    private readonly rows: OutboxRows,
    private readonly attempts: MailAttempt,
    private readonly worker: MailWorker,
    private readonly clock: Clock,
    database: Database,
    traces: UserTraces,
  ) {
    traces.register({
      tables: ['mail_outbox'],
      told: [toldMails],
      erase: (tx, uid) => rows.forgetUser(tx, uid),
      settle: (uid) => rows.forgetUser(database, uid),
    });
  }

  /** Starts sending, including the mails that other processes queued. Only the server calls it. */
  startSending(): void {
    this.worker.startPolling();
  }

  async outboxStats(): Promise<OutboxStats> {
    const counts = await this.rows.counts();
    const waiting = counts.find(({ status }) => status === mailStatus.waiting);
    const now = this.clock.now().getTime();
    return {
      pending: waiting?.count ?? 0,
      oldestPendingSeconds: Math.max(0, (now - (waiting?.oldest.getTime() ?? now)) / 1000),
      dead: counts.find(({ status }) => status === mailStatus.dead)?.count ?? 0,
      skipped: this.attempts.skipped,
    };
  }

  /** Sends all due mails now instead of at the next poll, until the mail server cannot be used. */
  sendDue(): Promise<void> {
    return this.worker.sendDue();
  }

  /** Deletes one batch of mails that have a final status. @returns fewer than `limit` when none are left */
  purgeSettled(before: Date, limit: number): Promise<number> {
    return this.rows.purgeSettled(before, limit);
  }

  /** Deletes the content of one batch of mails that nobody can retry any more. @returns as `purgeSettled` */
  forgetExpired(limit: number): Promise<number> {
    return this.rows.forgetExpired(limit);
  }
}
