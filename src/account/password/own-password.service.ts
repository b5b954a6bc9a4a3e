import { Injectable } from '@nestjs/common';
import { changeType } from '../../shared/change-type';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked, notPermitted, passwordReused, passwordsDiffer } from '../../shared/errors/error-catalogue';
import { NewPasswords } from '../../password-reset/new-passwords';
import { PasswordChange } from '../../password-reset/password-change';
import { PasswordChangeRequests } from '../../password-reset/password-change-requests';
import { Cooldowns } from '../../platform/database/cooldown.repository';
import type { CurrentSession } from '../../sessions/current-session';
import { SessionOpener, type TokenPair } from '../../sessions/session-opener';
import { UserSessions } from '../../sessions/user-sessions';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { CurrentPassword } from './current-password';

export interface ChangeOwnPassword {
  readonly currentPassword: string;
  readonly password: string;
  readonly confirmation: string;
}

/** `POST /user/change-password`: the steps of docs/spec/extensions.md#change-password. */
@Injectable()
export class OwnPasswordService {
  constructor(
    private readonly users: UsersRepository,
    private readonly currentPassword: CurrentPassword,
    private readonly newPasswords: NewPasswords,
    private readonly passwordChange: PasswordChange,
    private readonly requests: PasswordChangeRequests,
    private readonly cooldowns: Cooldowns,
    private readonly sessions: UserSessions,
    private readonly opener: SessionOpener,
  ) {}

  /** @returns the pair that replaces the tokens of the session */
  async change(command: ChangeOwnPassword, session: CurrentSession, client: ClientInfo): Promise<TokenPair> {
    const user = await this.userOf(session); //                                                AUTH_401004, 403001
    assertSame(command); //                                                                    AUTH_401010
    await this.currentPassword.assertMatches(user, command.currentPassword, client); //        LOGIN_401004, 401001
    await this.newPasswords.assertAllowed(command.password, user); //                          AUTH_400007
    await this.assertNotReused(user, command, session, client); //                                      AUTH_401009
    return this.store(command, user, session, client); //                                      one transaction
  }

  /** The version is compared first: a token of before a password change must not try the new password. */
  private async userOf({ payload, credentialVersion }: CurrentSession): Promise<User> {
    const user = await this.users.findByUid(payload.sub);
    if (user?.credentialVersion !== credentialVersion) throw new DomainError(accessTokenRevoked);
    if (user.provider !== 'password') throw new DomainError(notPermitted);
    return user;
  }

  private async assertNotReused(
    user: User,
    { password }: ChangeOwnPassword,
    session: CurrentSession,
    client: ClientInfo,
  ): Promise<void> {
    if (!(await this.newPasswords.isReused(password, user, client))) return;
    // A parallel change may have just set the same password. Then it has ended this session: AUTH_401004.
    await this.userOf(session);
    throw new DomainError(passwordReused);
  }

  /**
   * Links of the user and new change requests compete for the gate row; the end of this session, an operator who sets
   * a password and another change by the user compete for the `users` row. The first commit wins. The loser gets
   * AUTH_401004, because the winner has ended its session. The new session is the only one of the new credential
   * version, so that a login or a refresh beside the change leaves no other token.
   */
  private async store(
    command: ChangeOwnPassword,
    user: User,
    session: CurrentSession,
    client: ClientInfo,
  ): Promise<TokenPair> {
    const hash = await this.newPasswords.hash(command.password, client);
    const chosen = { hash, type: changeType.own, issuedUnder: user.credentialVersion };
    return this.cooldowns.serialise({ kind: 'reset', subject: user.uid }, async (tx) => {
      // The order of the locks: gate row, requests, user, tokens (ADR 0009).
      await this.requests.closeAll(tx, user.uid);
      const { startedAt, end } = await this.sessions.hold(tx, session);
      if (!(await this.passwordChange.write(tx, user, chosen, client))) throw new DomainError(accessTokenRevoked);
      const changed = { ...user, credentialVersion: user.credentialVersion + 1 };
      return this.opener.replaceIn(tx, changed, { amr: session.payload.amr, startedAt, end }, client);
    });
  }
}

function assertSame({ password, confirmation }: ChangeOwnPassword): void {
  if (password !== confirmation) throw new DomainError(passwordsDiffer);
}
