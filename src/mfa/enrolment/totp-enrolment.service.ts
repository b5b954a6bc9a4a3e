import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { Clock } from '../../shared/clock';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked, youngSessionRequired } from '../../shared/errors/error-catalogue';
import { Database, type Transaction } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { type LiveSession, LiveSessions } from '../../sessions/live-sessions';
import { SecondFactor } from '../../users/second-factor';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { codeRefused } from '../codes/code-attempts';
import { TotpCodes } from '../totp/totp-codes';
import { type NewSecret, OpenEnrolments } from './open-enrolments';
import { ReplacementCode } from './replacement-code';

/** Seconds after a login in which an authenticator is replaced without a code (docs/spec/decisions.md#enrolment). */
const recentLoginSeconds = 300;

/** `POST /totp-secret`: the former secret stays active until a code confirms the new one (docs/spec/service.md#4.5). */
@Injectable()
export class TotpEnrolmentService {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly secondFactor: SecondFactor,
    private readonly sessions: LiveSessions,
    private readonly enrolments: OpenEnrolments,
    private readonly replacementCode: ReplacementCode,
    private readonly codes: TotpCodes,
    private readonly clock: Clock,
  ) {}

  /**
   * @param code a code of the active secret; required to replace it unless the session is recent
   * @throws DomainError AUTH_403002 when the account has a passkey that this session has to use first
   */
  async open(session: CurrentSession, code: string | undefined, client: ClientInfo): Promise<NewSecret> {
    const user = await this.users.findByUid(session.payload.sub);
    const live = user === null ? undefined : await this.sessions.find(session.payload.sid, user);
    if (user === null || live === undefined) throw new DomainError(accessTokenRevoked);
    const secret = this.codes.generateSecret();
    const created = { secret, uri: this.codes.uri(secret, user.loginName) };
    const start = (tx: Transaction) => this.enrolments.start(tx, user, session, created, client);
    if (user.totpSecret !== null && !this.isRecent(user, live)) {
      await this.replacementCode.spend(user, code, client, start);
    } else {
      if (await this.sessions.mustProveFactor(user, live.amr)) throw new DomainError(youngSessionRequired);
      await this.openBySession(user, start);
    }
    return created;
  }

  /**
   * The age of a session is that of its last credential check, and of its login: a change of the own password proves the
   * password only. The first code of an authenticator opens a session with the login of the one before, and must not make
   * it recent. A trusted device has replaced the second factor, so it does not stand for the authenticator that is to be
   * replaced.
   */
  private isRecent(user: User, { amr, authenticatedAt, startedAt }: LiveSession): boolean {
    const since = this.clock.secondsFromNow(-recentLoginSeconds);
    const recent = authenticatedAt !== null && authenticatedAt > since && startedAt > since;
    return recent && !amr.includes('device') && !this.sessions.lacksFactor(user, amr);
  }

  /**
   * Another enrolment may get its first confirmation at the same time. If the confirmation commits first, the active
   * secret has changed and this request is refused, because replacing that secret may require a code. If this request
   * commits first, the other enrolment is replaced and its confirmation is refused.
   */
  private openBySession(user: User, start: (tx: Transaction) => Promise<void>): Promise<void> {
    return this.database.transaction(async (tx) => {
      if (!(await this.secondFactor.hold(tx, user))) throw codeRefused('totp');
      await start(tx);
    });
  }
}
