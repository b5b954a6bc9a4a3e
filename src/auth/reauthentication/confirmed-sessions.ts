import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked } from '../../shared/errors/error-catalogue';
import { Database } from '../../platform/database/database';
import type { CurrentSession } from '../../sessions/current-session';
import { type ConfirmedSession, SessionConfirmation } from '../../sessions/session-confirmation';
import { UserSessions } from '../../sessions/user-sessions';
import type { User } from '../../users/user.entity';
import type { LoginOutcome } from '../login/login.service';

/** Replaces the tokens of a session whose user has proven again who they are, in one transaction. */
@Injectable()
export class ConfirmedSessions {
  constructor(
    private readonly database: Database,
    private readonly userSessions: UserSessions,
    private readonly confirmation: SessionConfirmation,
  ) {}

  /**
   * Races with a logout, a revocation, a password change and a disabling. If one of them commits first, the session gets
   * no token: `hold` names the version of the token that was presented. If it comes later, it ends the new tokens too.
   * @throws DomainError AUTH_401004 when the session has ended
   */
  async confirm(
    user: User,
    session: CurrentSession,
    proof: Omit<ConfirmedSession, 'sid'>,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    const { payload, credentialVersion } = session;
    const tokens = await this.database.transaction(async (tx) => {
      await this.userSessions.hold(tx, session);
      const confirmed = { ...user, credentialVersion };
      return this.confirmation.confirmIn(tx, confirmed, { sid: payload.sid, ...proof }, client);
    });
    if (tokens === undefined) throw new DomainError(accessTokenRevoked);
    return { kind: 'session', user, tokens, deviceToken: null };
  }
}
