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

  /** Spares a locked account the work of the credential check; the verdict itself falls in the guarded writes. */
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

  /** @throws DomainError when another request locked, disabled or changed the account while bcrypt was at work. */
  async recordSuccess(user: User): Promise<void> {
    if (await this.users.recordLoginSuccess(user)) return;
    const now = await this.users.findByUid(user.uid);
    if (now !== null) {
      this.assertOpen(now);
      this.status.assertUsable(now);
    }
    throw new DomainError(loginFailed);
  }
}
