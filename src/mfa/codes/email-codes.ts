import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { usableAddress } from '../../shared/mail-address';
import { Random } from '../../shared/random';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import { MfaSettings } from '../mfa-settings';
import { KeyRing } from '../../platform/crypto/key-ring';
import type { Transaction } from '../../platform/database/database';
import { type PendingLogin, PendingLogins } from '../../sessions/pending-login.repository';
import type { User } from '../../users/user.entity';
import { isCodeShaped } from './submitted-code';

const digits = 6;
const purpose = 'otp-code';

/** Codes of six digits by mail. Only an HMAC over the code and the id of its pending login is stored (ADR 0008). */
@Injectable()
export class EmailCodes {
  private readonly logger = new Logger('mfa');

  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly mailer: Mailer,
    private readonly keys: KeyRing,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly settings: MfaSettings,
  ) {}

  /**
   * Creates a code that replaces the former code, and queues the mail, all in the caller's transaction.
   * @returns false, without a write, when the pending login was completed or replaced or used up in the meantime
   */
  async issue(
    tx: Transaction,
    user: User,
    pending: Pick<PendingLogin, 'userId' | 'id' | 'expires'>,
    client: ClientInfo,
  ): Promise<boolean> {
    const code = this.random.digits(digits);
    const expires = this.expiryOf(pending);
    if (!(await this.pendingLogins.setCode(tx, pending, this.keys.mac(purpose, bound(pending, code)), expires)))
      return false;
    const to = usableAddress(user.email);
    if (to === null) {
      // The client gets the same answer as when a mail is sent, also when no mail server is configured
      // (docs/spec/service.md#6.2). Only the log says why no code arrives.
      this.logger.warn(
        { requestId: client.requestId, userId: user.uid },
        'no code was sent: the user has no e-mail address that mail can go to, set one so that the user can log in',
      );
      return true;
    }
    await this.mailer.queueOtp(tx, {
      userId: user.uid,
      to,
      loginName: user.loginName,
      language: client.language,
      code,
      expires,
    });
    await this.audit.record(tx, 'MFA_CODE_SENT', { userId: user.uid, client });
    return true;
  }

  /**
   * Compares in constant time with the code of the given row. `PendingLogins.consume` checks that the row is unchanged.
   */
  matches({ id, codeHash, codeExpires }: PendingLogin, code: string): boolean {
    if (!isCodeShaped(code) || codeHash === null || codeExpires === null) return false;
    return codeExpires > this.clock.now() && this.keys.macMatches(purpose, bound({ id }, code), codeHash);
  }

  /** A code must not outlive its pending login, and the mail must not promise a longer validity. */
  private expiryOf({ expires }: Pick<PendingLogin, 'expires'>): Date {
    const own = this.clock.secondsFromNow(this.settings.codeTtlSeconds);
    return own < expires ? own : expires;
  }
}

function bound({ id }: Pick<PendingLogin, 'id'>, code: string): string {
  return `${id}:${code}`;
}
