import { Inject, Injectable, Optional } from '@nestjs/common';
import { ThrottlerStorage } from '@nestjs/throttler';
import { DomainError } from '../../shared/errors/domain-error';
import { tooManyRequests } from '../../shared/errors/error-catalogue';
import { identityKey } from '../../shared/identity-key';
import { LimitSettings } from '../config/limit-settings';
import { KeyRing } from '../crypto/key-ring';

const minute = 60_000;

/**
 * Counts what one request does to many targets: each of them has `RATE_LIMIT_TARGET`, as with requests of their own. The
 * guard counts one target of a request (`@RateLimited`).
 */
@Injectable()
export class TargetLimit {
  constructor(
    private readonly settings: LimitSettings,
    private readonly keys: KeyRing,
    // Without `RATE_LIMIT` there are no counters.
    @Optional() @Inject(ThrottlerStorage) private readonly counters?: ThrottlerStorage,
  ) {}

  /** @throws DomainError COMMON_429001 */
  async count(what: string, target: string): Promise<void> {
    if (this.counters === undefined) return;
    const key = `limit:${what}:${this.keys.mac('rate-limit', identityKey(target))}`;
    const counted = await this.counters.increment(key, minute, this.settings.target, minute, 'target');
    if (!counted.isBlocked) return;
    throw new DomainError(tooManyRequests, { retry_after: Math.max(1, counted.timeToBlockExpire) });
  }
}
