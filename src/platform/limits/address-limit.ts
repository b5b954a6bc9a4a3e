import { Inject, Injectable, Optional } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import { networkOf } from '../../shared/client-network';
import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';
import { LimitSettings } from '../config/limit-settings';
import type { LimitGroup } from './rate-limited.decorator';

const minute = 60_000;

/** Counts requests that no controller handles, in the same counters as `RateLimitGuard`. */
@Injectable()
export class AddressLimit {
  constructor(
    private readonly settings: LimitSettings,
    // Without `RATE_LIMIT` there are no counters.
    @Optional() @Inject(ThrottlerStorage) private readonly counters?: ThrottlerStorage,
  ) {}

  /** @throws DomainError COMMON_429001 */
  async count(group: LimitGroup, ip: string): Promise<void> {
    if (this.counters === undefined) return;
    const key = `limit:${group}:${networkOf(ip)}`;
    const { isBlocked, timeToBlockExpire } = await this.counters.increment(
      key,
      minute,
      this.settings[group],
      minute,
      'address',
    );
    if (isBlocked) throw new DomainError(tooManyRequests, { retry_after: Math.max(1, timeToBlockExpire) });
  }
}
