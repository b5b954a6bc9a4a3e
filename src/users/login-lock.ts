import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { accountLocked, loginFailed, userNotFound } from '../shared/errors/error-catalogue';
import { LockSettings } from './account-settings';
import type { Language } from '../shared/languages';
import { AccountStatus } from './account-status';
import type { User } from './user.entity';
import { UsersRepository } from './users.repository';

/**
 * The lock after repeated failures (docs/spec/service.md#3.1). The guarded writes of UsersRepository decide, so a burst
 * of parallel guesses gets no more than `MAX_LOCK_COUNT` attempts.
 */
@Injectable()
export class LoginLock {
  constructor(
    private readonly users: UsersRepository,
    private readonly status: AccountStatus,
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  /**
   * Throws early for a locked account, to save the check of its credential. The row may be out of date: only the
   * guarded writes decide.
   */
  assertOpen(user: User): void {
    const { maxCount, windowSeconds } = this.settings;
    const since = this.clock.secondsFromNow(-windowSeconds);
    const locked =
      user.loginFailedCount >= maxCount && user.lastLoginFailedTime !== null && user.lastLoginFailedTime > since;
    if (locked) throw new DomainError(accountLocked);
  }

  /** Counts a wrong credential and throws LOGIN_401001. Throws LOGIN_401004 if the account is locked by then. */
  async recordFailure(user: User): Promise<never> {
    const counted = await this.users.recordLoginFailure(user.uid);
    throw new DomainError(counted ? loginFailed : accountLocked);
  }

  /**
   * Records the success, or throws why the login is refused. A status error, for example LOGIN_401011, reveals that the
   * password was correct. The lock is therefore checked first: a guess after the lock gets LOGIN_401004 only.
   *
   * A new credential version means that the compared password may have changed. A login without a password that is kept
   * here goes on under the new version: a parallel login of a directory user may have changed the user's rights.
   * Races with a move to another kind of sign-in, which changes the version too. If the move commits first, the login is
   * refused: whoever vouched for the user does so no longer.
   * Races with an administrator who enables a dormant account or unlocks it. If that commits after the first write and before the
   * row is read again, nothing refuses the login any more, so the write is made once more: the password was right. An account that
   * has changed yet again by then is refused.
   * @param byPassword whether a password was compared that is kept here: not for a directory user, and not for a passkey
   * @param language that of the request, for later mails; the same statement stores it
   * @returns the row under whose version the success is recorded
   * @throws DomainError LOGIN_401004, else LOGIN_401011, 401012 or 401008, else LOGIN_401001 for a changed password, a move or two changes
   *   of the account
   */
  async recordSuccess(user: User, byPassword = user.provider === 'password', language?: Language): Promise<User> {
    if (await this.users.recordLoginSuccess(user, language)) return user;
    // The lock protects a password, which a user of an identity provider does not have.
    const now = await (user.provider === 'oidc' ? this.users.findByUid(user.uid) : this.assertStillOpen(user));
    if (now !== null) this.status.assertUsable(now);
    if (now?.credentialVersion === user.credentialVersion && (await this.users.recordLoginSuccess(now, language)))
      return now;
    const isAtHome = now?.provider === user.provider && now.identityProviderId === user.identityProviderId;
    const renewed = isAtHome && !byPassword && now.credentialVersion > user.credentialVersion;
    if (!renewed) throw new DomainError(loginFailed);
    return this.recordSuccess(now, byPassword, language);
  }

  /**
   * Records that a user who is signed in has confirmed the password. Like a login, it sets the counter to 0. Races with an
   * administrator who unlocks the account, as `recordSuccess` does.
   * @returns false when the account is no longer enabled, or has another password by now
   * @throws DomainError LOGIN_401004 when the account is locked, also when the password was right
   */
  async recordConfirmation(user: User): Promise<boolean> {
    if (await this.users.recordPasswordConfirmed(user)) return true;
    const now = await this.assertStillOpen(user);
    return now?.credentialVersion === user.credentialVersion && this.users.recordPasswordConfirmed(now);
  }

  /**
   * How many wrong passwords there may be before the lock. Reads the row again.
   * @throws DomainError LOGIN_401004 when the account is locked, LOGIN_404001 when it no longer exists
   */
  async guessesLeft(user: User): Promise<number> {
    const now = await this.assertStillOpen(user);
    if (now === null) throw new DomainError(userNotFound);
    return Math.max(1, this.settings.maxCount - now.loginFailedCount);
  }

  /**
   * Reads the row again and checks the lock. Needed before every answer that reveals the state of an account, here or
   * in a directory.
   * @returns the row, or null when it no longer exists
   * @throws DomainError LOGIN_401004 when the account is locked
   */
  async assertStillOpen({ uid }: User): Promise<User | null> {
    const now = await this.users.findByUid(uid);
    if (now !== null) this.assertOpen(now);
    return now;
  }
}
