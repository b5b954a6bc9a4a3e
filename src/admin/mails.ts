import { Injectable } from '@nestjs/common';
import { type MailRows, type MailStatusName, QueuedMails } from '../mail/queued-mails';
import type { Transaction } from '../platform/database/database';
import { SmtpTest, type SmtpTestResult } from '../mail/smtp-test';
import { defaultLanguage } from '../shared/languages';
import { domainOf } from '../shared/mail-address';
import { isUuid } from '../shared/uuid';
import { AdminChanges } from './admin-changes';
import type { Authority } from './authority';
import { EntryNotFound, EntryProblem } from './entries';
import { TargetUsers } from './target-users';

/** The mails of the outbox, and the test of the mail settings. Only the root tenant reaches this service. */
@Injectable()
export class Mails {
  constructor(
    private readonly queued: QueuedMails,
    private readonly smtp: SmtpTest,
    private readonly changes: AdminChanges,
    private readonly targets: TargetUsers,
  ) {}

  /** The newest mails first, without content and recipient. @param limit at most 1000 */
  list(status: MailStatusName | undefined, limit: number, after?: MailRows['next']): Promise<MailRows> {
    return this.queued.list(status, limit, after);
  }

  /**
   * @throws EntryNotFound when there is no mail with this id that was given up
   * @throws EntryProblem when the mail has expired, or was given up by a version that deleted its content
   */
  async retry(by: Authority, id: string): Promise<void> {
    await this.changes.make(by, async ({ tx, record }) => {
      if (by.role !== undefined && isUuid(id)) await this.assertSupported(tx, by, id);
      const outcome = isUuid(id) ? await this.queued.retry(tx, id) : 'unknown';
      if (outcome === 'unknown') throw new EntryNotFound(`there is no mail ${JSON.stringify(id)} that was given up`);
      if (outcome === 'gone') throw new EntryProblem('id', 'the mail has expired: it cannot be sent any more');
      await record('MAIL_RETRIED', { detail: { mail: id } });
    });
  }

  /** The audit row comes first, so that no mail leaves the service without one. @param to one plain address */
  async sendTest(by: Authority, to: string): Promise<SmtpTestResult> {
    await this.changes.make(by, ({ record }) => record('SMTP_TESTED', { detail: { domain: domainOf(to) } }));
    return this.smtp.send(to, by.actor?.client.language ?? defaultLanguage);
  }

  /** A mail to an administrator is for administrators, like everything else about their accounts. @throws AccountProblem */
  private async assertSupported(tx: Transaction, by: Authority, id: string): Promise<void> {
    const owner = await this.queued.ownerOf(tx, id);
    if (owner !== null) await this.targets.lock(tx, by, owner);
  }
}
