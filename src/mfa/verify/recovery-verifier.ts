import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { PendingLogins } from '../../sessions/pending-login.repository';
import { SecondFactor } from '../../users/second-factor';
import { CodeAttempts, codeRefused } from '../codes/code-attempts';
import { RecoveryCodes } from '../recovery-codes';
import { canonicalRecoveryCode } from '../codes/recovery-code';
import { RecoveryCodeRows } from '../persistence/recovery-code.repository';
import type { SubmittedCode } from '../codes/submitted-code';
import { type VerifiedLogin, VerifiedLogins } from './verified-logins';

/**
 * Exchanges a recovery code for a session, for a pending login of either channel. AUTH_MFA_401001 does not reveal what
 * was wrong. The attempts are those of the other codes, so no type of code adds guesses to another.
 */
@Injectable()
export class RecoveryVerifier {
  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly rows: RecoveryCodeRows,
    private readonly codes: RecoveryCodes,
    private readonly attempts: CodeAttempts,
    private readonly secondFactor: SecondFactor,
    private readonly logins: VerifiedLogins,
  ) {}

  async verify({ uid, code, mfaToken, trustDevice }: SubmittedCode, client: ClientInfo): Promise<VerifiedLogin> {
    const found = await this.pendingLogins.findForTokens(uid, { mfaToken, ip: client.ip, provenKey: client.provenKey });
    if (found === undefined) throw codeRefused('recovery');
    const { pending, user } = found;
    const guess = await this.attempts.reserve({ user, type: 'recovery', purpose: 'login', client }, () =>
      this.pendingLogins.reserveAttempt(pending),
    );
    const canonical = canonicalRecoveryCode(code);
    const id = canonical === undefined ? undefined : await this.rows.find(user.uid, canonical);
    if (id === undefined) return this.attempts.settle(guess, undefined);
    return this.attempts.settle(guess, async (tx) => {
      const accepted =
        (await this.secondFactor.acceptCode(tx, user)) &&
        (await this.pendingLogins.consumeByOtherCode(tx, pending)) &&
        (await this.codes.spend(tx, user, id, client));
      return accepted ? this.logins.openIn(tx, user, client, { mfa: 'recovery', trustDevice, pending }) : undefined;
    });
  }
}
