import { Injectable, Logger } from '@nestjs/common';
import { KeyRing } from '../../platform/crypto/key-ring';
import { retryAt } from '../../platform/outbox/back-off';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';
import { Random } from '../../shared/random';
import { domainOf } from '../../shared/mail-address';
import { MailLimits } from '../mail-limits';
import { type FinalStatus, mailStatus } from '../mail-status';
import { MailDelivery } from '../smtp/mail-delivery';
import { describeFailure, failureKind } from '../smtp/smtp-failure';
import { MailNotReadable, openMail } from './mail-payload';
import type { ClaimedMail } from './outbox-mail.repository';

/**
 * The result of an attempt, which the worker writes to the row. `charged`: the attempt counts towards the limit. `away`: the mail
 * server cannot be used, so the next mail would fail as well.
 */
export type Outcome =
  { readonly final: FinalStatus } | { readonly again: Date; readonly charged: boolean; readonly away: boolean };

/** Tries to send one mail and returns the outcome. It never throws, and never logs the recipient or the content. */
@Injectable()
export class MailAttempt {
  private readonly logger = new Logger('mail');
  private readonly outage = new LogThrottle();
  private readonly noServer = new LogThrottle();
  /** Mails that this process has skipped since its start, because no mail server is configured. */
  skipped = 0;

  constructor(
    private readonly delivery: MailDelivery,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly limits: MailLimits,
  ) {}

  async make(mail: ClaimedMail, signal: AbortSignal): Promise<Outcome> {
    // An expired mail is useless, for example a code that is no longer valid.
    if (mail.expires <= this.clock.now()) return { final: mailStatus.expired };
    // True only when the last attempt stored no result, for example because its process died. `judge` gives up others.
    if (mail.attempts > this.limits.maxAttempts) return { final: mailStatus.dead };
    let domain: string | undefined;
    try {
      const content = openMail(this.keys, mail.payload);
      domain = domainOf(content.to);
      const outcome = await this.delivery.deliver(mail.id, content, signal, mail.user_id);
      if (outcome === 'skipped') this.noteSkipped(mail.kind);
      return { final: mailStatus[outcome] };
    } catch (error) {
      return this.judge(mail, domain, error);
    }
  }

  /** Without a mail server, mails are skipped, and the operator is warned (docs/spec/attacks.md#w39). */
  private noteSkipped(kind: string): void {
    this.skipped++;
    if (!this.noServer.allows(this.clock.now())) return;
    this.logger.warn(
      { kind, skipped: this.skipped },
      'no mail server is configured, mail skipped: set SMTP_URL or the configuration group SMTP',
    );
  }

  private judge(mail: ClaimedMail, domain: string | undefined, error: unknown): Outcome {
    const now = this.clock.now();
    const kind = failureKind(error);
    const told = { mail: mail.id, kind: mail.kind, domain, attempts: mail.attempts, ...describeFailure(error) };
    if (kind === 'fault') {
      this.logger.error(told, 'mail given up because of a fault in this program: report this line, the mail is lost');
      return { final: mailStatus.dead };
    }
    if (kind === 'refused' || (kind === 'later' && mail.attempts >= this.limits.maxAttempts)) {
      this.logger.error(told, 'mail given up, it will not be sent');
      return { final: mailStatus.dead };
    }
    if (kind === 'later') this.logger.warn(told, 'mail not sent, it will be tried again');
    else if (this.outage.allows(now))
      this.logger.error(
        told,
        'the mail server cannot be used, mails wait and are tried again; check SMTP_URL or group SMTP',
      );
    const again = retryAt(mail, now, this.limits.retryCapMs, this.random);
    // A mail that only another replica can open says nothing about the others.
    const away = kind === 'server' && !(error instanceof MailNotReadable);
    return { again, charged: kind === 'later', away };
  }
}
