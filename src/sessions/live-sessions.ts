import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { JwtSettings } from './jwt-settings';
import { PasskeySettings } from './passkey-settings';
import { AdminSettings } from './session-settings';
import type { Transaction } from '../platform/database/database';
import type { Sql } from '../platform/database/sql';
import { SecondFactor } from '../users/second-factor';
import { administrates, type Rights } from '../users/rights';
import type { User } from '../users/user.entity';
import { UserLocks, type VersionedUser } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import { hasSecondFactor } from './authentication-context';
import type { CurrentSession } from './current-session';
import { LoginTokens, type SessionKey } from './persistence/login-token.repository';
import type { AuthenticationMethod } from './token-payload';

export interface LiveSession {
  readonly amr: readonly AuthenticationMethod[];
  /** The last check of a credential. Null for a session of a version that did not store it: such a session is old. */
  readonly authenticatedAt: Date | null;
  /** The login. A change of the own password checks a credential and is no login. */
  readonly startedAt: Date;
  readonly end: Date;
}

/**
 * SQL that is 1 while the session in these columns lives, as `LiveSessions.find` decides, for a statement that also reads what
 * depends on the session. Its only parameter is the present time.
 */
export const sessionLives = (sid: string, userId: string, credentialVersion: string): string =>
  `EXISTS (SELECT 1 FROM login_tokens live
     WHERE live.jti = ${sid} AND live.sid = ${sid} AND live.user_identity = ${userId} AND live.is_revoked = 0
       AND live.credential_version = ${credentialVersion} AND live.expires > ?)`;

/** Tells whether a session is still valid. The first row of the session decides (ADR 0005). */
@Injectable()
export class LiveSessions {
  constructor(
    private readonly tokens: LoginTokens,
    private readonly users: UsersRepository,
    private readonly locks: UserLocks,
    private readonly secondFactor: SecondFactor,
    private readonly clock: Clock,
    private readonly jwt: JwtSettings,
    private readonly admin: AdminSettings,
    private readonly passkeySettings: PasskeySettings,
  ) {}

  /** Returns undefined when the session has ended for any reason. */
  async find(sid: string, user: VersionedUser): Promise<LiveSession | undefined> {
    const row = await this.tokens.findLive(keyOf(sid, user));
    if (row === null) return undefined;
    // A session of a version that did not store its factors has proven a password at least.
    const amr = (row.amr?.split(' ') ?? ['pwd']) as AuthenticationMethod[];
    return { amr, authenticatedAt: row.authenticatedAt, startedAt: row.createdAt, end: row.expires };
  }

  /** Like `isYoung`, of a session that has not ended: the caller has checked its token. */
  async isYoungSession(sid: string): Promise<boolean> {
    const row = await this.tokens.findRow(sid);
    return row !== null && this.isYoung(row);
  }

  /** The last credential check is at most `STEP_UP_MAX_AGE_SECONDS` old (docs/spec/extensions.md#young-session). */
  isYoung({ authenticatedAt }: Pick<LiveSession, 'authenticatedAt'>): boolean {
    const oldest = this.clock.secondsFromNow(-this.jwt.stepUpMaxAgeSeconds);
    return authenticatedAt !== null && authenticatedAt >= oldest;
  }

  /**
   * Returns the rights that the user has now, or undefined when the session has ended for any reason. Only the expiry of
   * the access token is not compared: an answer that takes long may end after it.
   */
  async rightsOf({ payload, user, credentialVersion }: CurrentSession): Promise<Rights | undefined> {
    const asRead = { uid: user.uid, credentialVersion };
    if ((await this.find(payload.sid, asRead)) === undefined) return undefined;
    const now = await this.users.findUnchanged(asRead);
    return now === null ? undefined : { isAdmin: now.isAdmin, role: now.role };
  }

  /** Under `ADMIN_REQUIRES_MFA` whoever gets in has to prove a second factor, and this session has not. */
  lacksFactor(user: Rights, amr: readonly AuthenticationMethod[]): boolean {
    const { api, requiresMfa } = this.admin;
    return api && requiresMfa && administrates(user) && !hasSecondFactor(amr);
  }

  /**
   * The account has a second factor, an authenticator or a passkey, that this session has not used although it has to: on
   * a trusted device always, otherwise under `ADMIN_REQUIRES_MFA`. Such a session must not make, replace or remove a
   * second factor or what stands for one: the password and a copied device token would become a factor of the thief.
   * An administrator, or holder of a role, on a trusted device is refused without a look: the device stands for a factor.
   */
  async mustProveFactor(
    user: Rights & Pick<User, 'uid'>,
    amr: readonly AuthenticationMethod[],
    sql?: Sql,
  ): Promise<boolean> {
    const lacksFactor = this.lacksFactor(user, amr);
    const onDevice = amr.includes('device');
    if (!lacksFactor && !onDevice) return false;
    if (lacksFactor && onDevice) return true;
    const { authenticator, passkeys } = await this.secondFactor.factorsOf(user.uid, sql);
    // With PASSKEYS=off nobody can use one.
    return authenticator || (this.passkeySettings.passkeys !== undefined && passkeys > 0);
  }

  /**
   * Locks the row of the user and then the session, so that nothing ends the session until the transaction ends.
   * Races with everything that ends it. If that commits first, this gets false. If it comes later, it waits.
   */
  async holdOf(tx: Transaction, sid: string, uid: string): Promise<boolean> {
    const credentialVersion = await this.users.credentialVersion(tx, uid);
    if (credentialVersion === undefined) return false;
    const user = { uid, credentialVersion };
    return (await this.locks.holdUnchanged(tx, user)) && this.tokens.hold(tx, keyOf(sid, user));
  }

  /**
   * Locks the session until the transaction ends, so that no logout ends it meanwhile (`LoginTokens.hold`). The caller must
   * have locked the row of the user.
   * @returns false when the session has ended
   */
  hold(tx: Transaction, sid: string, user: User): Promise<boolean> {
    return this.tokens.hold(tx, keyOf(sid, user));
  }
}

function keyOf(sid: string, { uid: userId, credentialVersion }: Pick<User, 'uid' | 'credentialVersion'>): SessionKey {
  return { userId, sid, credentialVersion };
}
