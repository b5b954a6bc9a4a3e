import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../shared/client-info';
import { DomainError } from '../../shared/errors/domain-error';
import { accessTokenRevoked, loginFailed, notPermitted, userNotFound } from '../../shared/errors/error-catalogue';
import { ExternalOrigins } from '../../identity-providers/external-origins';
import { MfaChallenges } from '../../mfa/mfa-challenges';
import type { PasskeyLogin } from '../../passkeys/passkey-assertions';
import type { CurrentSession } from '../../sessions/current-session';
import { LiveSessions } from '../../sessions/live-sessions';
import { LoginLock } from '../../users/login-lock';
import type { User } from '../../users/user.entity';
import { UsersRepository } from '../../users/users.repository';
import { CredentialVerifiers } from '../login/credentials/credential-verifiers';
import type { LoginCommand } from '../login/login-command';
import { type ExternalCodeCommand, ExternalLoginService } from '../login/external/external-login.service';
import { LoginRefusals } from '../login/login-refusals';
import type { LoginOutcome } from '../login/login.service';
import { ConfirmedSessions } from './confirmed-sessions';
import { OwnPasskeyProof } from './own-passkey-proof';

export type Reauthentication = { readonly secondFactor: boolean } & (
  { readonly password: string } | { readonly passkey: PasskeyLogin } | { readonly external: ExternalCodeCommand }
);

/**
 * `POST /user/reauthenticate` (docs/spec/extensions.md#reauthenticate): a login of the user of a session, without a
 * captcha. It shares the counter and the lock of `/login`. A password change that is due does not end the session: the
 * next login asks for it.
 */
@Injectable()
export class ReauthenticationService {
  constructor(
    private readonly users: UsersRepository,
    private readonly refusals: LoginRefusals,
    private readonly lock: LoginLock,
    private readonly credentials: CredentialVerifiers,
    private readonly passkeys: OwnPasskeyProof,
    private readonly challenges: MfaChallenges,
    private readonly liveSessions: LiveSessions,
    private readonly sessions: ConfirmedSessions,
    private readonly external: ExternalLoginService,
    private readonly origins: ExternalOrigins,
  ) {}

  async confirm(command: Reauthentication, session: CurrentSession, client: ClientInfo): Promise<LoginOutcome> {
    const user = await this.userOf(session); //                                            AUTH_401004
    if ('passkey' in command) return this.byPasskey(command.passkey, user, session, client);
    if ('external' in command) return this.byProvider(command, user, session, client);
    const { secondFactor, password } = command;
    const checked = this.passwordOf(user, password, client);
    const current = await this.refusals.ofOwner(checked, user, null, client);
    if (!(await this.needsCode(current, session, secondFactor))) {
      return this.sessions.confirm(current, session, { mfa: null }, client); //            AUTH_401004
    }
    return this.askForCode(current, session, client);
  }

  private async askForCode(current: User, session: CurrentSession, client: ClientInfo): Promise<LoginOutcome> {
    if (!(await this.challenges.canBePassed(current))) throw new DomainError(notPermitted); // AUTH_403001
    const challenge = await this.challenges.open(current, client, session.payload.sid); // MFA_429001
    return { kind: 'mfa', user: current, ...challenge };
  }

  /** The version is compared first: a token of before a password change must not try the new password. */
  private async userOf({ payload, credentialVersion }: CurrentSession): Promise<User> {
    const user = await this.users.findByUid(payload.sub);
    if (user?.credentialVersion !== credentialVersion) throw new DomainError(accessTokenRevoked);
    return user;
  }

  /** A passkey is both factors, so no code is due after it. */
  private async byPasskey(
    passkey: PasskeyLogin,
    user: User,
    session: CurrentSession,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    const checked = this.passkeys.assertGood(passkey, user, client); // PASSKEY_401001, LOGIN_401004/011/012/008, 503001
    return this.sessions.confirm(
      await this.refusals.ofOwner(checked, user, 'passkey', client),
      session,
      { mfa: 'passkey' },
      client,
    );
  }

  /** A new sign-in at the provider of the user, which changes nothing in the account. Where the provider has proven two factors, no code is due after it. */
  private async byProvider(
    { external, secondFactor }: Extract<Reauthentication, { external: ExternalCodeCommand }>,
    user: User,
    session: CurrentSession,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    const { user: owner, signIn } = await this.external.redeemed(external, user.uid, client); // LOGIN_401013
    const entered = this.external.enter(owner, client, false); //                         LOGIN_401004/011/012/008
    const current = await this.refusals.ofOwner(entered, user, null, client);
    const origin = this.origins.ofFresh(signIn);
    await this.origins.confirms(session.payload.sid, signIn); //                          LOGIN_401013
    if (origin.mfa || !(await this.needsCode(current, session, secondFactor))) {
      return this.sessions.confirm(current, session, { mfa: null, origin }, client); //    AUTH_401004
    }
    return this.askForCode(current, session, client);
  }

  /** The steps of `/login` from its lock to its success. */
  private async passwordOf(user: User, password: string, client: ClientInfo): Promise<User> {
    const command: LoginCommand = {
      ...{ username: user.loginName, password, provider: user.provider === 'ldap' ? 'ldap' : 'password' },
      ...{ captchaToken: undefined, deviceToken: undefined },
    };
    this.credentials.assertCapacity(command, client); //                             COMMON_503001, nothing is counted
    await this.credentials.assertOpen(user, command, client); //                     LOGIN_401004
    const valid = await this.assertOwn(user, command, client); //                    LOGIN_401001, counter + 1
    const proof = { ...valid, user: await this.lock.recordSuccess(valid.user) }; //  LOGIN_401004/011/012/008, counter 0
    return this.credentials.renew(proof, command, client);
  }

  /**
   * A directory can say that the login name is that of a colleague by now. The password of the colleague proves nothing
   * about the user of this session, so it counts as a wrong one.
   */
  private async assertOwn(user: User, command: LoginCommand, client: ClientInfo) {
    const proof = await this.credentials.assertValid(user, command, client).catch((error: unknown) => {
      const unknown = error instanceof DomainError && error.entry === userNotFound;
      throw unknown ? new DomainError(loginFailed) : error;
    });
    return proof.user.uid === user.uid ? proof : this.lock.recordFailure(user);
  }

  /** As at a login, without the trusted device; also where the caller or a rule about factors wants one. */
  private async needsCode(user: User, { payload }: CurrentSession, wanted: boolean): Promise<boolean> {
    return wanted || this.challenges.areDueFor(user) || this.liveSessions.mustProveFactor(user, payload.amr);
  }
}
