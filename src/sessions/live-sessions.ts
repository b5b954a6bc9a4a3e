import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { AppConfig } from '../platform/config/app-config';
import { Database, type Transaction } from '../platform/database/database';
import { type Sql, timeOf, timeOrNull } from '../platform/database/sql';
import { SecondFactor } from '../users/second-factor';
import type { User } from '../users/user.entity';
import type { VersionedUser } from '../users/user-locks';
import { UsersRepository } from '../users/users.repository';
import type { CurrentSession } from './current-session';
import type { AuthenticationMethod } from './token-payload';

export interface LiveSession {
  readonly amr: readonly AuthenticationMethod[];
  /** The last check of a credential. Null for a session of a version that did not store it: such a session is old. */
  readonly authenticatedAt: Date | null;
  /** The login. A change of the own password checks a credential and is no login. */
  readonly startedAt: Date;
  readonly end: Date;
}

/** A trusted device (`device`) only replaces the code, so it is no second factor. */
const secondFactors: ReadonlySet<AuthenticationMethod> = new Set(['otp', 'hwk', 'mfa']);

export function hasSecondFactor(amr: readonly AuthenticationMethod[]): boolean {
  return amr.some((method) => secondFactors.has(method));
}

type LiveRow = Record<'authenticated_at' | 'created_at' | 'expires', unknown> & { readonly amr: string | null };

/** Tells whether a session is still valid. The first row of the session decides (ADR 0005). */
@Injectable()
export class LiveSessions {
  constructor(
    private readonly database: Database,
    private readonly users: UsersRepository,
    private readonly secondFactor: SecondFactor,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Returns undefined when the session has ended for any reason. */
  async find(sid: string, user: VersionedUser): Promise<LiveSession | undefined> {
    const row = await this.database.row<LiveRow>(
      `SELECT amr, authenticated_at, created_at, expires FROM login_tokens
       WHERE jti = ? AND user_identity = ? AND is_revoked = 0 AND credential_version = ? AND expires > ?`,
      [sid, user.uid, user.credentialVersion, this.clock.now()],
    );
    if (row === undefined) return undefined;
    // A session of a version that did not store its factors has proven a password at least.
    const amr = (row.amr?.split(' ') ?? ['pwd']) as AuthenticationMethod[];
    const [startedAt, end] = [timeOf(row.created_at), timeOf(row.expires)];
    return { amr, authenticatedAt: timeOrNull(row.authenticated_at), startedAt, end };
  }

  /** The last credential check is at most `STEP_UP_MAX_AGE_SECONDS` old (docs/spec/extensions.md#young-session). */
  isYoung({ authenticatedAt }: Pick<LiveSession, 'authenticatedAt'>): boolean {
    const oldest = this.clock.secondsFromNow(-this.config.jwt.stepUpMaxAgeSeconds);
    return authenticatedAt !== null && authenticatedAt >= oldest;
  }

  /**
   * Returns the rights that the user has now, or undefined when the session has ended for any reason. Only the expiry of
   * the access token is not compared: an answer that takes long may end after it.
   */
  async rightsOf({ payload, user, credentialVersion }: CurrentSession): Promise<{ isAdmin: boolean } | undefined> {
    const asRead = { uid: user.uid, credentialVersion };
    if ((await this.find(payload.sid, asRead)) === undefined) return undefined;
    const now = await this.users.findUnchanged(asRead);
    return now === null ? undefined : { isAdmin: now.isAdmin };
  }

  /** Under `ADMIN_REQUIRES_MFA` an administrator has to prove a second factor, and this session has not. */
  lacksFactor(user: Pick<User, 'isAdmin'>, amr: readonly AuthenticationMethod[]): boolean {
    const { api, requiresMfa } = this.config.admin;
    return api && requiresMfa && user.isAdmin && !hasSecondFactor(amr);
  }

  /**
   * The account has a second factor, an authenticator or a passkey, that this session has not used although it has to: on
   * a trusted device always, otherwise under `ADMIN_REQUIRES_MFA`. Such a session must not make, replace or remove a
   * second factor or what stands for one: the password and a copied device token would become a factor of the thief.
   * An administrator on a trusted device is refused without a look: the device stands for a factor.
   */
  async mustProveFactor(
    user: Pick<User, 'uid' | 'isAdmin'>,
    amr: readonly AuthenticationMethod[],
    sql?: Sql,
  ): Promise<boolean> {
    const lacksFactor = this.lacksFactor(user, amr);
    const onDevice = amr.includes('device');
    if (!lacksFactor && !onDevice) return false;
    if (lacksFactor && onDevice) return true;
    const { authenticator, passkeys } = await this.secondFactor.factorsOf(user.uid, sql);
    // With PASSKEYS=off nobody can use one.
    return authenticator || (this.config.passkeys !== undefined && passkeys > 0);
  }

  /**
   * Locks the first row of the session until the transaction ends.
   * Races with a logout. If the logout commits first, this UPDATE matches no row. If the logout comes later, it waits
   * for this transaction. The caller must have locked the row of the user, so that nothing else can end the session.
   */
  hold(tx: Transaction, sid: string, user: User): Promise<boolean> {
    return tx.won(
      `UPDATE login_tokens SET is_revoked = 0
       WHERE jti = ? AND user_identity = ? AND is_revoked = 0 AND credential_version = ? AND expires > ?`,
      [sid, user.uid, user.credentialVersion, this.clock.now()],
    );
  }
}
