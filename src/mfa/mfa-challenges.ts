import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../shared/client-info';
import { DomainError } from '../shared/errors/domain-error';
import { codeSentTooOften, loginFailed } from '../shared/errors/error-catalogue';
import { usableAddress } from '../shared/mail-address';
import { MfaSettings } from './mfa-settings';
import { Cooldowns } from '../platform/database/cooldown.repository';
import { Database } from '../platform/database/database';
import { PendingLogins } from '../sessions/pending-login.repository';
import type { SignInOrigin } from '../sessions/sign-in-origins';
import { type DeviceLogin, TrustedDevices } from '../sessions/trusted-devices';
import type { MfaType, User } from '../users/user.entity';
import { UsersRepository } from '../users/users.repository';
import { EmailCodes } from './codes/email-codes';
import { RecoveryCodes } from './recovery-codes';

export interface Challenge {
  readonly channel: MfaType;
  /** Returned by `/login`. Whoever sends it owns the pending login. */
  readonly mfaToken: string;
  /** The id of the pending login. */
  readonly pendingId: string;
}

/**
 * Decides after a correct password: a trusted device, or a pending login that waits for a code
 * (docs/spec/decisions.md#pending-login).
 */
@Injectable()
export class MfaChallenges {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly pendingLogins: PendingLogins,
    private readonly codes: EmailCodes,
    private readonly cooldowns: Cooldowns,
    private readonly devices: TrustedDevices,
    private readonly recoveryCodes: RecoveryCodes,
    private readonly settings: MfaSettings,
  ) {}

  /**
   * The setting `MFA_REQUIRED`. No tenant can override it (docs/spec/service.md#1.4). With `enrolled`, the confirmed
   * authenticator of the row decides that this login has read: it holds the secret itself and is no hint.
   * Races with the confirmation of an authenticator. A login that reads the row after its commit asks for a code. One that
   * has read it before is a login from before the confirmation, which ends no session.
   */
  areDueFor({ totpSecret }: User): boolean {
    const { rule } = this.settings;
    return rule === 'always' || (rule === 'enrolled' && totpSecret !== null);
  }

  /** Opens the session without a code when the token is that of a trusted device of this user. */
  async logInByDevice(
    user: User,
    token: string | undefined,
    client: ClientInfo,
    origin?: SignInOrigin,
  ): Promise<DeviceLogin | undefined> {
    return token === undefined ? undefined : this.devices.logIn(user, token, client, origin);
  }

  /**
   * Whether the user can pass a second factor at all: an authenticator, a mailed code or a recovery code. A login does not
   * ask, because its answer would tell a thief of the password what the account lacks.
   */
  async canBePassed(user: User): Promise<boolean> {
    if (channelOf(user) === 'totp' || usableAddress(user.email) !== null) return true;
    return (await this.recoveryCodes.summary(user.uid)).left > 0;
  }

  /**
   * @throws DomainError MFA_429001 within the cooldown: the former code and its pending login stay valid. LOGIN_401001
   *   when the user was deleted, disabled or got another password since the password was compared
   * @param sid the session that the code will confirm; null for a login
   */
  async open(user: User, client: ClientInfo, sid: string | null = null): Promise<Challenge> {
    if (channelOf(user) === 'email') return this.openByEmail(user, client, sid);
    const { mfaToken, pending } = await this.pendingLogins.open(this.database, user, 'totp', client, sid);
    return { channel: 'totp', mfaToken, pendingId: pending.id };
  }

  /**
   * Of parallel logins of one user, only one sends a mail. An administrator may have changed the address since the login
   * has read it, so the row is locked and read again: a code must not reach the owner of the former address.
   */
  private openByEmail(user: User, client: ClientInfo, sid: string | null): Promise<Challenge> {
    return this.cooldowns.once(
      { kind: 'otp', subject: user.uid, seconds: this.settings.cooldownSeconds, refusal: codeSentTooOften },
      async (tx) => {
        const now = await this.users.hold(tx, user);
        if (now === null) throw new DomainError(loginFailed);
        const { pending, mfaToken } = await this.pendingLogins.open(tx, now, 'email', client, sid);
        await this.codes.issue(tx, now, pending, client);
        return { channel: 'email', mfaToken, pendingId: pending.id };
      },
    );
  }
}

/** Without a confirmed secret the channel is `email`, so that a user can log in and enrol an authenticator. */
function channelOf(user: User): MfaType {
  return user.mfaType === 'totp' && user.totpSecret !== null ? 'totp' : 'email';
}
