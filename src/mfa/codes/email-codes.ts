import { Injectable, Logger } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { usableAddress } from '../../shared/mail-address';
import { Random } from '../../shared/random';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import { AppConfig } from '../../platform/config/app-config';
import { KeyRing } from '../../platform/crypto/key-ring';
import type { Transaction } from '../../platform/database/database';
import { type PendingLogin, PendingLogins } from '../../tokens/pending-logins';
import type { User } from '../../users/user.entity';
import { isCodeShaped } from './code-shape';

const digits = 6;
const purpose = 'otp-code';

/** Six digits by mail (§4.2), stored as an HMAC that is bound to the one pending login they were made for. */
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
    private readonly config: AppConfig,
  ) {}

  /**
   * Makes a code, replaces the former one by it and queues its mail, all in the caller's unit.
   * @returns false when the pending login has been accepted, taken over or used up meanwhile: nothing was done.
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
      // As without a mail server (§6.2): the login waits for a code that nobody gets, and only the operator is told why.
      this.logger.warn(
        { requestId: client.requestId, userId: user.uid },
        'no code was sent: the user has no e-mail address that mail can go to',
      );
      return true;
    }
    await this.mailer.queueOtp(tx, { to, nickname: user.nickname, language: client.language, code, expires });
    await this.audit.record(tx, 'MFA_CODE_SENT', { userId: user.uid, client });
    return true;
  }

  /** Constant-time. The code that was in force when the row was read: `consume` makes sure that it still is. */
  matches({ id, codeHash, codeExpires }: PendingLogin, code: string): boolean {
    if (!isCodeShaped(code) || codeHash === null || codeExpires === null) return false;
    return codeExpires > this.clock.now() && this.keys.macMatches(purpose, bound({ id }, code), codeHash);
  }

  /** A code does not outlive its login; the mail should not say that it does. */
  private expiryOf({ expires }: Pick<PendingLogin, 'expires'>): Date {
    const own = this.clock.secondsFromNow(this.config.mfa.codeTtlSeconds);
    return own < expires ? own : expires;
  }
}

function bound({ id }: Pick<PendingLogin, 'id'>, code: string): string {
  return `${id}:${code}`;
}
