import { Injectable } from '@nestjs/common';
import { ExternalAttributes } from '../../../identity-providers/external-attributes';
import { ExternalOrigins } from '../../../identity-providers/external-origins';
import { ExternalSignInCounts } from '../../../identity-providers/external-sign-in-counts';
import { ExternalSignIns, type HandedOver } from '../../../identity-providers/external-sign-ins.repository';
import { IdentityProviders } from '../../../identity-providers/identity-providers.repository';
import { MfaChallenges } from '../../../mfa/mfa-challenges';
import { SessionOpener } from '../../../sessions/session-opener';
import type { SignInOrigin } from '../../../sessions/sign-in-origins';
import type { ClientInfo } from '../../../shared/client-info';
import { DomainError } from '../../../shared/errors/domain-error';
import { externalAnswerRejected } from '../../../shared/errors/error-catalogue';
import { LoginLock } from '../../../users/login-lock';
import type { User } from '../../../users/user.entity';
import { UsersRepository } from '../../../users/users.repository';
import { LoginRefusals } from '../login-refusals';
import type { LoginOutcome } from '../login.service';
import { belongsTo } from './external-owners';

export interface ExternalCodeCommand {
  readonly code: string;
  /** The value of the browser's cookie. */
  readonly browser: string | undefined;
  readonly deviceToken?: string | undefined;
}

/** A redeemed code of the user to whom it belongs. */
export interface RedeemedSignIn {
  readonly user: User;
  readonly signIn: HandedOver;
}

/**
 * `POST /login/external` (docs/spec/extensions.md#k): the end of a sign-in at an identity provider, with the rules of `/login`
 * from its lock on. No captcha is asked: the code cannot be guessed.
 */
@Injectable()
export class ExternalLoginService {
  constructor(
    private readonly signIns: ExternalSignIns,
    private readonly providers: IdentityProviders,
    private readonly users: UsersRepository,
    private readonly refusals: LoginRefusals,
    private readonly lock: LoginLock,
    private readonly attributes: ExternalAttributes,
    private readonly challenges: MfaChallenges,
    private readonly sessions: SessionOpener,
    private readonly origins: ExternalOrigins,
    private readonly counts: ExternalSignInCounts,
  ) {}

  async login(command: ExternalCodeCommand, client: ClientInfo): Promise<LoginOutcome> {
    const { user, signIn } = await this.redeemed(command, undefined, client); //        LOGIN_401013
    const entered = this.enter(user, client).then((current) =>
      this.branch(current, signIn, command.deviceToken, client),
    );
    return this.counted(signIn, this.refusals.ofOwner(entered, user, null, client));
  }

  /**
   * A good code that is refused has an owner, whose login log shows it.
   * @param confirms the user who confirms a session; undefined for a login
   * @throws DomainError LOGIN_401013 also for a code of the other kind, and when the account or the provider has changed
   */
  async redeemed(
    { code, browser }: ExternalCodeCommand,
    confirms: string | undefined,
    client: ClientInfo,
  ): Promise<RedeemedSignIn> {
    const rejected = new DomainError(externalAnswerRejected);
    const signIn = browser === undefined ? undefined : await this.signIns.redeem(code, browser);
    if (signIn === undefined) throw rejected;
    const [provider, user] = await Promise.all([
      this.providers.find(signIn.identityProviderId),
      this.users.findByUid(signIn.userId),
    ]);
    if (user === null) throw rejected;
    const isMeant = signIn.begun.confirms === confirms && provider?.enabled === true && belongsTo(user, provider);
    const redeemed = isMeant ? Promise.resolve({ user, signIn }) : Promise.reject(rejected);
    return this.counted(signIn, this.refusals.ofOwner(redeemed, user, null, client));
  }

  /** The account follows the claims only when the session opens: they must not say where a code is mailed. */
  async enter(user: User, client: ClientInfo, isLogin = true): Promise<User> {
    const language = isLogin ? client.wishedLanguage : undefined;
    return this.lock.recordSuccess(user, false, language); //                           LOGIN_401011/012/008
  }

  private async branch(
    user: User,
    signIn: HandedOver,
    deviceToken: string | undefined,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    const origin = this.origins.of(signIn);
    if (origin.mfa || !this.challenges.areDueFor(user)) return this.opened(user, signIn, origin, client);
    const trusted = await this.challenges.logInByDevice(user, deviceToken, client, origin);
    if (trusted !== undefined) {
      this.counts.add(signIn.identityProviderId, 'success');
      return { kind: 'session', user: await this.attributes.current(user, signIn.answer.person), ...trusted };
    }
    const { pendingId, ...challenge } = await this.challenges.open(user, client); //     MFA_429001
    await this.signIns.waitFor(signIn.id, pendingId);
    this.counts.add(signIn.identityProviderId, 'mfa');
    return { kind: 'mfa', user, ...challenge };
  }

  private async opened(
    user: User,
    { identityProviderId, answer }: HandedOver,
    origin: SignInOrigin,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    const tokens = await this.sessions.open(user, client, null, origin);
    this.counts.add(identityProviderId, 'success');
    return { kind: 'session', user: await this.attributes.current(user, answer.person), tokens, deviceToken: null };
  }

  private async counted<T>({ identityProviderId }: HandedOver, step: Promise<T>): Promise<T> {
    try {
      return await step;
    } catch (error) {
      if (error instanceof DomainError) this.counts.add(identityProviderId, error.entry.code);
      throw error;
    }
  }
}
