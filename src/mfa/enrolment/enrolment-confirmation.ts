import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { AuditTrail } from '../../audit/audit-trail';
import { Mailer } from '../../mail/mailer';
import type { Transaction } from '../../platform/database/database';
import { type LiveSession, LiveSessions } from '../../sessions/live-sessions';
import { PendingLogins } from '../../sessions/pending-login.repository';
import { SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import { TotpSecrets } from '../persistence/totp-secret.repository';
import { SealedTotp } from '../totp/sealed-totp';
import { TotpCodes } from '../totp/totp-codes';
import { type VerifiedLogin, VerifiedLogins } from '../verify/verified-logins';
import type { OpenEnrolment } from './open-enrolments';

/** The first correct code activates the new secret. Until that commit the former secret stays active (ADR 0008). */
@Injectable()
export class EnrolmentConfirmation {
  constructor(
    private readonly codes: TotpCodes,
    private readonly sealed: SealedTotp,
    private readonly secrets: TotpSecrets,
    private readonly secondFactor: SecondFactor,
    private readonly liveSessions: LiveSessions,
    private readonly logins: VerifiedLogins,
    private readonly pendingLogins: PendingLogins,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  /** Returns the function that accepts this code, or undefined when the code does not belong to the new secret. */
  by(
    code: string,
    { row, user, session }: OpenEnrolment,
    client: ClientInfo,
    trustDevice: boolean,
  ): ((tx: Transaction) => Promise<VerifiedLogin | undefined>) | undefined {
    const step = this.codes.stepOf(code, this.sealed.openSecret(row.secret), this.clock.now());
    if (step === null) return undefined;
    return async (tx) => {
      const confirmed =
        (await this.mayActivate(tx, user, session)) &&
        (await this.secondFactor.activateSecret(tx, user, this.sealed.renewed(row.secret))) &&
        (await this.liveSessions.hold(tx, row.sid, user)) &&
        (await this.secrets.confirm(tx, row, step));
      if (!confirmed) return undefined;
      // A code that was mailed before must not open a session beside the new authenticator.
      await this.pendingLogins.close(tx, user.uid);
      await this.tell(tx, user, client);
      return this.logins.openWithNewFactor(
        tx,
        user,
        { ...this.withCode(session), sid: row.sid },
        { client, trustDevice },
      );
    };
  }

  /**
   * A passkey that was added since the enrolment began is a second factor that the session may have to use first. The
   * row of the user is locked, so no passkey is added between this look and the end of the transaction. Where an
   * authenticator is replaced, its code or a recent login has begun the enrolment.
   */
  private async mayActivate(tx: Transaction, user: User, { amr }: LiveSession): Promise<boolean> {
    if (user.totpSecret !== null) return true;
    return (await this.secondFactor.hold(tx, user)) && !(await this.liveSessions.mustProveFactor(user, amr, tx));
  }

  /**
   * The code is a credential check, and a second factor of the login, when the last check has just been made. Otherwise
   * anybody who has an old access token of a user without an authenticator could make one and have a young session with two
   * factors. A trusted device stays without a second factor.
   */
  private withCode(session: LiveSession): LiveSession {
    const { amr } = session;
    if (!this.liveSessions.isYoung(session)) return session;
    const withOtp = amr.includes('device') || amr.includes('otp') ? amr : [...amr, 'otp' as const];
    return { ...session, amr: withOtp, authenticatedAt: this.clock.now() };
  }

  /** `user.totpSecret` is the replaced secret: `activateSecret` succeeded only if it had not changed since the read. */
  private async tell(tx: Transaction, user: User, client: ClientInfo): Promise<void> {
    const replaced = user.totpSecret !== null;
    await this.audit.record(tx, replaced ? 'TOTP_REPLACED' : 'TOTP_ENROLLED', { userId: user.uid, client });
    if (user.email === null) return;
    const to = { userId: user.uid, to: user.email, loginName: user.loginName };
    const { language, ip } = client;
    await this.mailer.queueTotpChanged(tx, { ...to, language, ip, at: this.clock.now(), replaced });
  }
}
