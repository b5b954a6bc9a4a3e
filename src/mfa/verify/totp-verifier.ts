import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import type { Transaction } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { type PendingLogin, PendingLogins } from '../../sessions/pending-login.repository';
import { SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import { CodeAttempts, codeRefused } from '../codes/code-attempts';
import { EnrolmentConfirmation } from '../enrolment/enrolment-confirmation';
import { type OpenEnrolment, OpenEnrolments } from '../enrolment/open-enrolments';
import { ActiveSecret } from '../totp/active-secret';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import type { SubmittedCode } from '../codes/submitted-code';
import { type VerifiedLogin, VerifiedLogins } from './verified-logins';

interface TotpLogin {
  readonly pending: PendingLogin;
  readonly user: User;
}

type Acceptance = (tx: Transaction) => Promise<VerifiedLogin | undefined>;

/**
 * Verifies a code of an authenticator: first for the pending login with the active secret, then for an open enrolment
 * of the caller. One attempt is counted: for the enrolment if there is one, otherwise for the pending login
 * (docs/spec/decisions.md#enrolment).
 */
@Injectable()
export class TotpVerifier {
  constructor(
    private readonly pendingLogins: PendingLogins,
    private readonly enrolments: OpenEnrolments,
    private readonly confirmation: EnrolmentConfirmation,
    private readonly activeSecret: ActiveSecret,
    private readonly secrets: TotpSecrets,
    private readonly attempts: CodeAttempts,
    private readonly secondFactor: SecondFactor,
    private readonly logins: VerifiedLogins,
  ) {}

  async verify(submitted: SubmittedCode, client: ClientInfo, session: CurrentSession | null): Promise<VerifiedLogin> {
    const { uid, mfaToken, trustDevice } = submitted;
    const found = await this.pendingLogins.findForTokens(uid, { mfaToken, ip: client.ip, provenKey: client.provenKey });
    const login = found?.pending.channel === 'totp' ? found : undefined;
    const enrolment = await this.enrolments.find(uid, { session, ip: client.ip });
    const guess = await this.reserve(login, enrolment, client);
    const accept =
      (login && (await this.loginBy(submitted, login, enrolment, client))) ??
      (enrolment && this.confirmation.by(submitted.code, enrolment, client, trustDevice));
    return this.attempts.settle(guess, accept);
  }

  private reserve(login: TotpLogin | undefined, enrolment: OpenEnrolment | undefined, client: ClientInfo) {
    if (enrolment !== undefined) {
      const { user, row } = enrolment;
      return this.attempts.reserve({ user, type: 'totp', purpose: 'enrolment', client }, () =>
        this.secrets.reserveAttempt(row),
      );
    }
    if (login === undefined) throw codeRefused('totp');
    const { user, pending } = login;
    return this.attempts.reserve({ user, type: 'totp', purpose: 'login', client }, () =>
      this.pendingLogins.reserveAttempt(pending),
    );
  }

  private async loginBy(
    { code, trustDevice }: SubmittedCode,
    { pending, user }: TotpLogin,
    enrolment: OpenEnrolment | undefined,
    client: ClientInfo,
  ): Promise<Acceptance | undefined> {
    const step = await this.activeSecret.newStepOf(code, user);
    if (step === null) return undefined;
    return async (tx) => {
      const accepted =
        (await this.secondFactor.acceptCode(tx, user)) &&
        (await this.pendingLogins.consume(tx, pending)) &&
        (await this.secrets.useStep(tx, user.uid, step));
      if (!accepted) return undefined;
      if (enrolment !== undefined) await this.secrets.releaseAttempt(tx, enrolment.row);
      return this.logins.openIn(tx, user, client, { mfa: 'totp', trustDevice, pending });
    };
  }
}
