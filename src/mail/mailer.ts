import { Injectable } from '@nestjs/common';
import { AppConfig } from '../platform/config/app-config';
import { KeyRing } from '../platform/crypto/key-ring';
import type { Transaction } from '../platform/database/database';
import { Clock } from '../shared/clock';
import {
  type OtpMail,
  type PasswordChangedMail,
  type QueuedMail,
  type ResetLinkMail,
  sealMail,
  type TotpChangedMail,
} from './outbox/mail-payload';
import { OutboxRows } from './outbox/outbox-rows';
import { OutboxWorker } from './outbox/outbox-worker';

export type {
  OtpMail,
  PasswordChangedMail,
  ResetLinkMail,
  ResetLinkType,
  TotpChangedMail,
} from './outbox/mail-payload';

/** A notice is still worth reading the next day. */
const noticeSeconds = 24 * 3600;

/**
 * Mails as part of the change that causes them: a row in the caller's transaction, sent soon after its commit and never
 * after its rollback. No verb waits for a mail server or fails for the lack of one (§6.2). A mail goes to one stored
 * address; `nickname`, where it is known, is how it greets.
 */
@Injectable()
export class Mailer {
  constructor(
    private readonly rows: OutboxRows,
    private readonly worker: OutboxWorker,
    private readonly keys: KeyRing,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** The code of the second factor (§4.2); not sent after `expires`. */
  queueOtp(tx: Transaction, mail: OtpMail): Promise<void> {
    return this.queue(tx, { kind: 'otp', ...mail }, mail.expires);
  }

  /**
   * The link to `/reset-password` (§4.9), worded by its type, also for invitations; not sent after `expires`.
   * @throws Error when the link leads elsewhere than to `SYSTEM_URL`: that is a bug, or somebody's Host header (W29).
   */
  queueResetLink(tx: Transaction, mail: ResetLinkMail): Promise<void> {
    if (!mail.link.startsWith(`${this.config.systemUrl}/`)) throw new Error('a link must start with SYSTEM_URL');
    return this.queue(tx, { kind: 'reset-link', ...mail }, mail.expires);
  }

  /** "Your password was changed": time and address, and no link that changes anything. */
  queuePasswordChanged(tx: Transaction, mail: PasswordChangedMail): Promise<void> {
    return this.queue(tx, { kind: 'password-changed', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  /** An authenticator was confirmed, or took the place of another (decisions.md 3). */
  queueTotpChanged(tx: Transaction, mail: TotpChangedMail): Promise<void> {
    return this.queue(tx, { kind: 'totp-changed', ...mail }, this.clock.secondsFromNow(noticeSeconds));
  }

  private async queue(tx: Transaction, mail: QueuedMail, expires: Date): Promise<void> {
    await this.rows.insert(tx, mail.kind, sealMail(this.keys, mail), expires);
    this.worker.nudge();
  }
}
