import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { OutboxWorker } from '../../platform/outbox/outbox-worker';
import { Clock } from '../../shared/clock';
import { MailLimits } from '../mail-limits';
import { MailAttempt, type Outcome } from './mail-attempt';
import { type ClaimedMail, OutboxRows } from './outbox-mail.repository';

/** Sends the mails of the outbox; every replica runs one worker (ADR 0007). */
@Injectable()
export class MailWorker extends OutboxWorker<ClaimedMail, Outcome> implements OnModuleDestroy {
  constructor(rows: OutboxRows, attempt: MailAttempt, clock: Clock, limits: MailLimits) {
    const giveBack = (mail: ClaimedMail, outcome: Outcome, at: Date | undefined) => {
      if ('final' in outcome) return rows.settle(mail, outcome.final);
      return rows.giveBack(mail, at ?? outcome.again, at === undefined && outcome.charged);
    };
    const queue = {
      what: 'mail',
      idOf: (mail: ClaimedMail) => mail.id,
      claim: (wanted: number) => rows.claim(wanted),
      attempt: (mail: ClaimedMail, signal: AbortSignal) => attempt.make(mail, signal),
      write: (mail: ClaimedMail, outcome: Outcome) => giveBack(mail, outcome, undefined),
      handBack: (mail: ClaimedMail, outcome: Outcome) => giveBack(mail, outcome, clock.now()),
      // Otherwise a wrong password would be tried once for each waiting mail, and the mail server could lock the account.
      waitsAfter: (outcome: Outcome) => 'away' in outcome && outcome.away,
    };
    super(queue, clock, limits);
  }

  /** Runs in this phase because MailerService closes its connections later in the same phase. */
  onModuleDestroy(): Promise<void> {
    return this.stop();
  }
}
