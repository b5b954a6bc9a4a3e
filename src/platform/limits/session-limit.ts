import { Inject, Injectable, Optional } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';
import { LimitSettings } from '../config/limit-settings';

const minute = 60_000;

/**
 * Counts the refreshes of a session, from all addresses together (docs/operations/rate-limits.md). The other limits count
 * before the guards of a route. This one needs a `sid` of a good signature: otherwise whoever knows the `sid` of another
 * person could use up that person's limit.
 */
@Injectable()
export class SessionLimit {
  constructor(
    private readonly settings: LimitSettings,
    // Without `RATE_LIMIT` there are no counters.
    @Optional() @Inject(ThrottlerStorage) private readonly counters?: ThrottlerStorage,
  ) {}

  /** @param sid of a token whose signature was checked @throws DomainError COMMON_429001 */
  async count(sid: string): Promise<void> {
    if (this.counters === undefined) return;
    const { session } = this.settings;
    const { isBlocked, timeToBlockExpire } = await this.counters.increment(
      `limit:session:${sid}`,
      minute,
      session,
      minute,
      'session',
    );
    if (isBlocked) throw new DomainError(tooManyRequests, { retry_after: Math.max(1, timeToBlockExpire) });
  }
}
