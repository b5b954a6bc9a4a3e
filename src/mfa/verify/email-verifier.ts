import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { PendingLogins } from '../../sessions/pending-login.repository';
import { SecondFactor } from '../../users/second-factor';
import { CodeAttempts, codeRefused } from '../codes/code-attempts';
import { EmailCodes } from '../codes/email-codes';
import type { SubmittedCode } from '../codes/submitted-code';
import { type VerifiedLogin, VerifiedLogins } from './verified-logins';

/** Exchanges a mailed code for a session. MFA_401001 does not reveal what was wrong (docs/spec/service.md#4.2). */
@Injectable()
export class EmailVerifier {
  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly codes: EmailCodes,
    private readonly attempts: CodeAttempts,
    private readonly secondFactor: SecondFactor,
    private readonly logins: VerifiedLogins,
  ) {}

  async verify({ uid, code, mfaToken, trustDevice }: SubmittedCode, client: ClientInfo): Promise<VerifiedLogin> {
    const found = await this.pendingLogins.findForTokens(uid, { mfaToken, ip: client.ip, provenKey: client.provenKey });
    if (found?.pending.channel !== 'email') throw codeRefused('email');
    const { pending, user } = found;
    const guess = await this.attempts.reserve({ user, type: 'email', purpose: 'login', client }, () =>
      this.pendingLogins.reserveAttempt(pending),
    );
    if (!this.codes.matches(pending, code)) return this.attempts.settle(guess, undefined);
    return this.attempts.settle(guess, async (tx) => {
      const accepted =
        (await this.secondFactor.acceptCode(tx, user, { mailed: true })) &&
        (await this.pendingLogins.consume(tx, pending));
      return accepted ? this.logins.openIn(tx, user, client, { mfa: 'email', trustDevice, pending }) : undefined;
    });
  }
}
