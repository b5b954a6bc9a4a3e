import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/database';
import { type MailStatus, mailStatus, type MailStatusName } from './mail-status';
import { MailWorker } from './outbox/mail-worker';
import { type ListedMail, type MailPlace, OutboxRows } from './outbox/outbox-mail.repository';

export type { MailStatusName } from './mail-status';

/** A row of the outbox without its content and its recipient. */
export type QueuedMailRow = Omit<ListedMail, 'status'> & { readonly status: MailStatusName };

export interface MailRows {
  readonly items: readonly QueuedMailRow[];
  /** The place of the last item, or null when there are no more. */
  readonly next: MailPlace | null;
}

/** `unknown`: there is no such mail, or it was not given up. `gone`: it has expired, or its content was deleted. */
export type RetryOutcome = 'queued' | 'unknown' | 'gone';

const names = Object.fromEntries(Object.entries(mailStatus).map(([name, value]) => [value, name])) as Record<
  MailStatus,
  MailStatusName
>;

/** The outbox for administrators: which mails there are, and another try for one that was given up. */
@Injectable()
export class QueuedMails {
  constructor(
    private readonly rows: OutboxRows,
    private readonly worker: MailWorker,
  ) {}

  /** The newest mails first. @param limit at most 1000 */
  async list(status: MailStatusName | undefined, limit: number, after?: MailRows['next']): Promise<MailRows> {
    const most = limit <= 200 ? 201 : 1001;
    const rows = await this.rows.newest(status && mailStatus[status], most, after);
    const items = rows.slice(0, limit).map((row) => ({ ...row, status: names[row.status] }));
    const last = items.at(-1);
    return { items, next: last !== undefined && rows.length > limit ? [last.createdAt.getTime(), last.id] : null };
  }

  /** @returns the uid, or null when the mail belongs to nobody or does not exist */
  ownerOf(tx: Transaction, id: string): Promise<string | null> {
    return this.rows.ownerOf(tx, id);
  }

  /** Queues a mail that was given up once more. */
  async retry(tx: Transaction, id: string): Promise<RetryOutcome> {
    if (await this.rows.requeue(tx, id)) {
      this.worker.nudge();
      return 'queued';
    }
    const status = await this.rows.statusOf(tx, id);
    return status === mailStatus.dead || status === mailStatus.expired ? 'gone' : 'unknown';
  }
}
