import { Clock } from '../../shared/clock';
import { ProviderAway } from '../provider-connection';
import type { ProviderLimits } from './provider-limits';

/**
 * Bounds what one provider can occupy: parallel requests, and requests while it is away. A request beyond is refused at once,
 * so a provider that hangs delays a few of its own sign-ins, and no others.
 */
export class ProviderBulkhead {
  private running = 0;
  private failures = 0;
  private avoidedSince = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly limits: ProviderLimits,
  ) {}

  /**
   * @param failed whether an answer shows that the provider is away
   * @throws ProviderAway
   */
  async run<T>(request: () => Promise<T>, failed: (answer: T) => boolean): Promise<T> {
    if (this.running >= this.limits.parallel) throw new ProviderAway('busy');
    if (this.isAvoided()) throw new ProviderAway('avoided');
    // The request that tries the provider again is alone: others are refused until it has ended.
    if (this.isDown) this.avoidedSince = this.clock.now().getTime();
    this.running += 1;
    try {
      const answer = await request();
      if (failed(answer)) this.fail();
      else this.failures = 0;
      return answer;
    } finally {
      this.running -= 1;
    }
  }

  get isDown(): boolean {
    return this.failures >= this.limits.failuresToAvoid;
  }

  get isIdle(): boolean {
    return this.running === 0 && this.failures === 0;
  }

  private fail(): void {
    this.failures += 1;
    if (this.isDown) this.avoidedSince = this.clock.now().getTime();
  }

  /** The absolute value, so that a clock that is set back does not prolong it. */
  private isAvoided(): boolean {
    return this.isDown && Math.abs(this.clock.now().getTime() - this.avoidedSince) < this.limits.avoidedMs;
  }
}
