import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../shared/clock';
import { OnceAMinute } from '../../shared/once-a-minute';

/** Without a mail server mails are skipped, as specified (§6.2), but not in silence: a warning and a number (W39). */
@Injectable()
export class SkippedMails {
  private readonly logger = new Logger('mail');
  private readonly warning = new OnceAMinute();
  private skipped = 0;

  constructor(private readonly clock: Clock) {}

  /** Since this process started. */
  get count(): number {
    return this.skipped;
  }

  note(kind: string): void {
    this.skipped++;
    if (this.warning.allows(this.clock.now())) {
      this.logger.warn({ kind, skipped: this.skipped }, 'no mail server is configured (SMTP, SMTP_URL): mail skipped');
    }
  }
}
