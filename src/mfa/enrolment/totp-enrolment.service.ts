import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { AuditTrail } from '../../audit/audit-trail';
import { AppConfig } from '../../platform/config/app-config';
import { Database, type Transaction } from '../../platform/database/database';
import type { CurrentSession } from '../../tokens/current-session';
import { LiveSessions } from '../../tokens/live-sessions';
import { SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { CodeAttempts, codeRefused } from '../codes/code-attempts';
import { TotpSecrets } from '../persistence/totp-secrets';
import { ActiveSecret } from '../totp/active-secret';
import { SealedTotp } from '../totp/sealed-totp';
import { TotpCodes } from '../totp/totp-codes';

/** Seconds after a login in which an authenticator is replaced without a code (docs/spec/decisions.md#enrolment). */
const recentLoginSeconds = 300;

export interface NewSecret {
  readonly secret: string;
  readonly uri: string;
}

/** `POST /totp-secret`: the former secret stays active until a code confirms the new one (docs/spec/service.md#4.5). */
@Injectable()
export class TotpEnrolmentService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly secondFactor: SecondFactor,
    private readonly sessions: LiveSessions,
    private readonly activeSecret: ActiveSecret,
    private readonly attempts: CodeAttempts,
    private readonly secrets: TotpSecrets,
    private readonly codes: TotpCodes,
    private readonly sealed: SealedTotp,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** @param code a code of the active secret; required to replace it when the session is older than 300 s */
  async open(session: CurrentSession, code: string | undefined, client: ClientInfo): Promise<NewSecret> {
    const user = await this.users.findByUid(session.payload.sub);
    const startedAt = user === null ? undefined : await this.sessions.startedAt(session.payload.sid, user);
    if (user === null || startedAt === undefined) throw new DomainError(accessTokenRevoked);
    const secret = this.codes.generateSecret();
    const created = { secret, uri: this.codes.uri(secret, user.loginName) };
    const recent = startedAt > this.clock.secondsFromNow(-recentLoginSeconds);
    if (user.totpSecret !== null && !recent) await this.openByCode(user, session, created, code, client);
    else await this.openBySession(user, session, created, client);
    return created;
  }

  /** The thief of an access token must not be able to replace the owner's authenticator (docs/spec/attacks.md#w45). */
  private async openByCode(
    user: User,
    session: CurrentSession,
    created: NewSecret,
    code: string | undefined,
    client: ClientInfo,
  ): Promise<void> {
    if (code === undefined) throw codeRefused('totp');
    const guess = await this.attempts.reserve({ user, type: 'totp', purpose: 'replacement', client }, () =>
      Promise.resolve('granted'),
    );
    const step = await this.activeSecret.newStepOf(code, user, this.clock.now());
    if (step === null) return this.attempts.settle(guess, undefined);
    await this.attempts.settle(guess, async (tx) => {
      const accepted =
        (await this.secondFactor.acceptCode(tx, user)) && (await this.secrets.useStep(tx, user.uid, step));
      if (!accepted) return undefined;
      await this.write(tx, user, session, created, client);
      return true;
    });
  }

  /**
   * Racer: the first confirmation of another enrolment. If it commits first, the active secret has changed and this
   * request is refused, because replacing that secret may require a code. If this request commits first, the other
   * enrolment is replaced and its confirmation is refused.
   */
  private openBySession(user: User, session: CurrentSession, created: NewSecret, client: ClientInfo): Promise<void> {
    return this.database.transaction(async (tx) => {
      if (!(await this.secondFactor.hold(tx, user))) throw codeRefused('totp');
      await this.write(tx, user, session, created, client);
    });
  }

  private async write(
    tx: Transaction,
    user: User,
    { payload: { sid } }: CurrentSession,
    { secret, uri }: NewSecret,
    client: ClientInfo,
  ): Promise<void> {
    const expires = this.clock.secondsFromNow(this.config.mfa.enrolmentTtlSeconds);
    const sealed = this.sealed.seal(secret, uri);
    await this.secrets.openEnrolment(tx, { userId: user.uid, ...sealed, sid, ip: client.ip, expires });
    await this.audit.record(tx, 'TOTP_ENROLMENT_OPENED', { userId: user.uid, client, detail: { sid } });
  }
}
