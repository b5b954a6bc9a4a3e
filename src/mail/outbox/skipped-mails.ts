import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { LogThrottle } from '../../shared/log-throttle';

/** Counts the mails that are skipped without a mail server, and warns about them (docs/spec/attacks.md#w39). */
@Injectable()
export class SkippedMails {
  private readonly logger = new Logger('mail');
  private readonly warning = new LogThrottle();
  private skipped = 0;

  constructor(private readonly clock: Clock) {}

  /** Skipped mails since this process started. */
  get count(): number {
    return this.skipped;
  }

  note(kind: string): void {
    this.skipped++;
    if (this.warning.allows(this.clock.now())) {
      this.logger.warn(
        { kind, skipped: this.skipped },
        'no mail server is configured, mail skipped: set SMTP_URL or the configuration group SMTP',
      );
    }
  }
}
