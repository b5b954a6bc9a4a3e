import { Injectable, Logger } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { domainOf } from '../../shared/mail-address';
import { MailLimits } from '../mail-limits';
import { type FinalStatus, mailStatus } from '../mail-status';
import { OnceAMinute } from '../../shared/once-a-minute';
import { MailDelivery } from '../smtp/mail-delivery';
import { describeFailure, failureKind } from '../smtp/smtp-failure';
import { retryAt } from './back-off';
import { openMail } from './mail-payload';
import type { ClaimedMail } from './outbox-rows';
import { SkippedMails } from './skipped-mails';

/** What is to be written of a mail after it was tried. */
export type Outcome = { readonly final: FinalStatus } | { readonly again: Date; readonly charged: boolean };

/** Tries one mail and says what became of it; it never throws (T257), and never logs whom it was for or what it said. */
@Injectable()
export class MailAttempt {
  private readonly logger = new Logger('mail');
  private readonly outage = new OnceAMinute();

  constructor(
    private readonly delivery: MailDelivery,
    private readonly skipped: SkippedMails,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: MailLimits,
  ) {}

  async make(mail: ClaimedMail, signal: AbortSignal): Promise<Outcome> {
    // A code is not sent after it died.
    if (mail.expires <= this.clock.now()) return { final: mailStatus.expired };
    // Only processes that died while they sent it come this far.
    if (mail.attempts > this.limits.maxAttempts) return { final: mailStatus.dead };
    let domain: string | undefined;
    try {
      const content = openMail(this.keys, mail.payload);
      domain = domainOf(content.to);
      const outcome = await this.delivery.deliver(mail.id, content, signal);
      if (outcome === 'skipped') this.skipped.note(mail.kind);
      return { final: mailStatus[outcome] };
    } catch (error) {
      return this.judge(mail, domain, error);
    }
  }

  private judge(mail: ClaimedMail, domain: string | undefined, error: unknown): Outcome {
    const now = this.clock.now();
    const kind = failureKind(error);
    const told = { mail: mail.id, kind: mail.kind, domain, attempts: mail.attempts, ...describeFailure(error) };
    if (kind === 'refused' || (kind === 'later' && mail.attempts >= this.limits.maxAttempts)) {
      this.logger.error(told, 'mail given up');
      return { final: mailStatus.dead };
    }
    if (kind === 'later') this.logger.warn(told, 'mail not sent, trying again later');
    else if (this.outage.allows(now)) this.logger.error(told, 'the mail server cannot be used, trying again');
    return { again: retryAt(mail, now, this.limits.retryCapMs, this.random), charged: kind === 'later' };
  }
}
