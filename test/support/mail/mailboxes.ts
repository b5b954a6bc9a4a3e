import { eventually } from '../servers/eventually';
import type { ReceivedMail, Smtp } from '../servers/smtp';

/** The mailboxes of users. Each mail is read once, in the order of arrival. */
export class Mailboxes {
  private readonly taken = new Map<string, number>();

  constructor(private readonly smtp: Smtp) {}

  /** Returns the text of the next unread mail to this address, and waits for it if needed. */
  async next(address: string): Promise<string> {
    const place = this.taken.get(address) ?? 0;
    this.taken.set(address, place + 1);
    const what = `mail ${place + 1} to ${address}`;
    return eventually(() => this.to(address)[place]?.mail.text, { what, timeout: 60_000 });
  }

  /** Number of unread mails. Each was sent twice or without a reason. */
  surplus(): number {
    return this.smtp.messages.length - [...this.taken.values()].reduce((sum, n) => sum + n, 0);
  }

  /** Message-IDs of mails that arrived more than once. The outbox derives a Message-ID from its row. */
  twice(): string[] {
    const ids = this.smtp.messages.map(({ mail }) => String(mail.messageId));
    return ids.filter((id, at) => ids.indexOf(id) !== at);
  }

  private to(address: string): ReceivedMail[] {
    return this.smtp.messages.filter(({ to }) => to.includes(address));
  }
}
