import { eventually } from '../servers/eventually';
import type { ReceivedMail, Smtp } from '../servers/smtp';

/** What people find in their mail: each takes the next one, in the order in which they came. */
export class Mailboxes {
  private readonly taken = new Map<string, number>();

  constructor(private readonly smtp: Smtp) {}

  /** The text of the next mail to this address, which is there or still to come. */
  async next(address: string): Promise<string> {
    const place = this.taken.get(address) ?? 0;
    this.taken.set(address, place + 1);
    const what = `mail ${place + 1} to ${address}`;
    return eventually(() => this.to(address)[place]?.mail.text, { what, timeout: 20_000 });
  }

  /** How many came that nobody has waited for: sent twice, or for no reason. */
  surplus(): number {
    return this.smtp.messages.length - [...this.taken.values()].reduce((sum, n) => sum + n, 0);
  }

  /** Mails that came more than once, by the id that the outbox gave them. */
  twice(): string[] {
    const ids = this.smtp.messages.map(({ mail }) => String(mail.messageId));
    return ids.filter((id, at) => ids.indexOf(id) !== at);
  }

  private to(address: string): ReceivedMail[] {
    return this.smtp.messages.filter(({ to }) => to.includes(address));
  }
}
