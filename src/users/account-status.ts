import { Injectable } from '@nestjs/common';
import { Clock } from '../shared/clock';
import { DomainError } from '../shared/errors/domain-error';
import { accountDisabled, accountDormant, accountNotEnabled } from '../shared/errors/error-catalogue';
import { LockSettings } from './account-settings';
import { type User, userStatus } from './user.entity';

/**
 * The status checks of docs/spec/service.md#3.1. They come after the checks of the password and the lock, so that only
 * the owner of the account learns its state (docs/spec/attacks.md#w10).
 */
@Injectable()
export class AccountStatus {
  constructor(
    private readonly clock: Clock,
    private readonly settings: LockSettings,
  ) {}

  assertUsable(user: User): void {
    if (user.status === userStatus.disabled) throw new DomainError(accountDisabled);
    if (user.status !== userStatus.enabled) throw new DomainError(accountNotEnabled);
    if (this.isDormant(user)) throw new DomainError(accountDormant);
  }

  /** Whether the account was unused for `ACCOUNT_DORMANT_DAYS`, and no administrator has enabled it in this time. */
  isDormant({ lastLoginSuccessTime, createdAt, enabledAt }: User): boolean {
    const { dormantDays } = this.settings;
    if (dormantDays === 0) return false;
    const earliest = this.clock.secondsFromNow(-dormantDays * 86_400);
    return (lastLoginSuccessTime ?? createdAt) < earliest && (enabledAt === null || enabledAt < earliest);
  }
}
