import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Redis } from 'ioredis';
import type { Clock } from '../../shared/clock';
import { storeUnavailable } from '../../platform/database/store-failure';
import { openRedis } from '../../platform/limits/redis-client';
import type { Proof } from './proof-reader';
import { UsedProofs } from './used-proofs';

const commandTimeoutMs = 1000;

/**
 * The memory of replicas with Redis. While Redis is away, requests with a proof are answered with 503. Counting in each
 * replica, as the rate limits do, would let a proof be used once at each of them.
 */
export class RedisUsedProofs extends UsedProofs implements OnApplicationShutdown {
  private readonly logger = new Logger('proofs');
  private away = false;

  private constructor(
    private readonly redis: Redis,
    private readonly clock: Clock,
  ) {
    super();
    // Without a listener ioredis writes errors to the console.
    redis.on('error', (error: Error) => this.lost(error));
    redis.on('ready', () => (this.away = false));
  }

  static async open(url: string, clock: Clock): Promise<RedisUsedProofs> {
    return new RedisUsedProofs(await openRedis(url, commandTimeoutMs), clock);
  }

  /** Race: SET NX of the same key, from any replica. Redis runs one after the other, and the first one wins. */
  async use({ id, forgottenAfter }: Pick<Proof, 'id' | 'forgottenAfter'>): Promise<boolean> {
    const livesMs = Math.max(1, forgottenAfter.getTime() - this.clock.now().getTime());
    try {
      return (await this.redis.set(`proof:${id}`, 1, 'PX', livesMs, 'NX')) === 'OK';
    } catch (error) {
      this.lost(error as Error);
      throw storeUnavailable(error);
    }
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  private lost(error: Error): void {
    if (!this.away) this.logger.warn({ reason: error.message }, 'Redis is away: requests with a proof are refused');
    this.away = true;
  }
}
