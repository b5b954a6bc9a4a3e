import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { accountLocked, loginFailed } from '../shared/errors/error-catalogue';
import { AppConfig } from '../platform/config/app-config';
import { AccountStatus } from './account-status';
import type { User } from './user.entity';
import { UsersRepository } from './users.repository';

/** The lock after repeated failures (§3.1, §8), decided at commit: no burst of guesses gets more than `MAX_LOCK_COUNT`. */
@Injectable()
export class LoginLock {
  constructor(
    private readonly users: UsersRepository,
    private readonly status: AccountStatus,
    private readonly clock: Clock,
    private readonly config: AppConfig,
  ) {}

  /** Judges the row as it was read: spares a locked account the credential check. The guarded writes decide. */
  assertOpen(user: User): void {
    const { maxCount, windowSeconds } = this.config.lock;
    const since = this.clock.secondsFromNow(-windowSeconds);
    const locked =
      user.loginFailedCount >= maxCount && user.lastLoginFailedTime !== null && user.lastLoginFailedTime > since;
    if (locked) throw new DomainError(accountLocked);
  }

  /** Counts the wrong credential and says so; the guess that came after the lock learns only LOGIN_401004. */
  async recordFailure(user: User): Promise<never> {
    const counted = await this.users.recordLoginFailure(user.uid);
    throw new DomainError(counted ? loginFailed : accountLocked);
  }

  /**
   * Records the success or says what stands against it. A status code tells that the password is right, so the database
   * judges the lock once more before one is answered: a guess that comes after the lock learns only LOGIN_401004.
   * @throws DomainError LOGIN_401004, else LOGIN_401011, 401012 or 401008, else LOGIN_401001 for a changed password
   */
  async recordSuccess(user: User): Promise<void> {
    if (await this.users.recordLoginSuccess(user)) return;
    const now = await this.assertStillOpen(user);
    if (now !== null) this.status.assertUsable(now);
    throw new DomainError(loginFailed);
  }

  /**
   * Judges the row as it is now. Needed before any answer that tells a state of the account, here or at a directory.
   * @returns that row, null where it is gone
   * @throws DomainError LOGIN_401004
   */
  async assertStillOpen({ uid }: User): Promise<User | null> {
    const now = await this.users.findByUid(uid);
    if (now !== null) this.assertOpen(now);
    return now;
  }
}
