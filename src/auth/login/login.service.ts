import { Injectable } from '@nestjs/common';
import { CaptchaService } from '../../captcha/captcha.service';
import { type ForcedChangeType, changeType } from '../../shared/change-type';
import type { ClientInfo } from '../../shared/client-info';
import { MfaChallenges } from '../../mfa/mfa-challenges';
import { PasswordChangeRequests } from '../../password-reset/password-change-requests';
import { SessionOpener, type TokenPair } from '../../sessions/session-opener';
import { LoginLock } from '../../users/login-lock';
import { PasswordHistory } from '../../users/password-change-log.repository';
import type { MfaType, User } from '../../users/user.entity';
import { CredentialVerifiers, type IdentifiedUser } from './credentials/credential-verifiers';
import type { LoginCommand, TypedLogin } from './login-command';
import { LoginRefusals } from './login-refusals';

/** The outcome of a login with a right credential (docs/spec/service.md#1.3). */
export type LoginOutcome =
  | {
      readonly kind: 'session';
      readonly user: User;
      readonly tokens: TokenPair;
      readonly deviceToken: string | null;
    }
  | { readonly kind: 'mfa'; readonly user: User; readonly channel: MfaType; readonly mfaToken: string }
  | { readonly kind: 'password-change'; readonly user: User; readonly changeUid: string };

/**
 * `POST /login` (docs/spec/service.md#4.1). Each step refuses with its own error code, and only the last step
 * issues tokens.
 */
@Injectable()
export class LoginService {
  constructor(
    private readonly captcha: CaptchaService,
    private readonly credentials: CredentialVerifiers,
    private readonly refusals: LoginRefusals,
    private readonly lock: LoginLock,
    private readonly history: PasswordHistory,
    private readonly changeRequests: PasswordChangeRequests,
    private readonly challenges: MfaChallenges,
    private readonly sessions: SessionOpener,
  ) {}

  async login(typed: TypedLogin, client: ClientInfo): Promise<LoginOutcome> {
    this.credentials.assertCapacity(typed, client); //                COMMON_503001, the captcha is not spent
    await this.captcha.assertHuman(typed.captchaToken, client.ip); // CAPTCHA_401001, nothing is counted or logged
    const named = await this.credentials.named(typed); //             finds the kind of account for `auto`
    const { command } = named;
    const lookUp = this.credentials.userOf(named, client); //         LOGIN_404001
    const identified = await this.refusals.recorded(lookUp, null, command, client);
    return this.refusals.recorded(this.enter(identified, command, client), identified.user, command, client);
  }

  private async enter(
    { user, accepted }: IdentifiedUser,
    command: LoginCommand,
    client: ClientInfo,
  ): Promise<LoginOutcome> {
    await this.credentials.assertOpen(user, command, client); //                    LOGIN_401004
    const valid = accepted ?? (await this.credentials.assertValid(user, command, client)); // LOGIN_401001, counter + 1
    const entered = await this.lock.recordSuccess(valid.user, undefined, client.wishedLanguage);
    const proof = { ...valid, user: entered }; //                                   LOGIN_401004/011/012/008, counter 0
    const current = await this.credentials.renew(proof, command, client); //        follows a new cost or the directory
    return this.branch(current, command, client); //                                one of the three outcomes
  }

  /**
   * A due password change comes before the second factor. The change issues no token: the next login needs both
   * factors.
   */
  private async branch(user: User, { deviceToken }: LoginCommand, client: ClientInfo): Promise<LoginOutcome> {
    const due = this.dueChange(user);
    if (due !== null) {
      return { kind: 'password-change', user, changeUid: await this.changeRequests.openForced(user, due) };
    }
    if (!this.challenges.areDueFor(user)) {
      return { kind: 'session', user, tokens: await this.sessions.open(user, client, null), deviceToken: null };
    }
    const trusted = await this.challenges.logInByDevice(user, deviceToken, client);
    if (trusted !== undefined) return { kind: 'session', user, ...trusted };
    return { kind: 'mfa', user, ...(await this.challenges.open(user, client)) };
  }

  /** Directory users never get a password change: the directory decides about their passwords. */
  private dueChange(user: User): ForcedChangeType | null {
    if (user.provider !== 'password') return null;
    if (user.mustChangePassword) return changeType.first;
    return this.history.isExpired(user) ? changeType.expired : null;
  }
}
