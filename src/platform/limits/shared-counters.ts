import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { databaseSystem } from '../tracing/traced-database';
import type { Tracing } from '../tracing/tracing';
import { LocalCounters } from './local-counters';

/** Two limits are counted for a request: what both wait for a silent Redis stays below the 250 ms of the contract. */
const commandTimeoutMs = 100;
/** How long a Redis that failed is not asked. */
const restMs = 5000;

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;
type Increment = Parameters<ThrottlerStorage['increment']>;

/**
 * Counters that all replicas share through Redis, and each its own while Redis is away: an answer never waits for a
 * Redis that is slow or gone, and a limit then holds for each replica by itself. No secret is guarded here: the lock, the
 * attempts at a code and the throttles of mails are counted in the database (W56).
 */
export class SharedCounters implements ThrottlerStorage, OnApplicationShutdown {
  private readonly logger = new Logger('limits');
  private restsUntil = 0;
  private away = false;

  private constructor(
    private readonly redis: Redis,
    private readonly shared: ThrottlerStorage,
    private readonly own: ThrottlerStorage,
    private readonly tracing: Tracing | undefined,
  ) {
    // Every refused command says so by itself; without a listener ioredis writes to the console.
    redis.on('error', (error: Error) => this.rest(error));
    redis.on('ready', () => (this.restsUntil = 0));
  }

  /** Begins to connect and does not wait for it. The client is loaded here: who has no Redis starts without it. */
  static async open(
    url: string,
    tracing?: Tracing,
    own: ThrottlerStorage = new LocalCounters(),
  ): Promise<SharedCounters> {
    const [{ Redis }, { ThrottlerStorageRedisService }] = await Promise.all([
      import('ioredis'),
      import('@nest-lab/throttler-storage-redis'),
    ]);
    const redis = new Redis(url, {
      commandTimeout: commandTimeoutMs,
      connectTimeout: 2000,
      // Without these a command waits for a connection that may never come, or is sent again after it has (T243).
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      // A connection whose other end is gone without a word would otherwise be kept for a quarter of an hour.
      socketTimeout: restMs,
      keepAlive: 30_000,
      retryStrategy: (attempt) => Math.min(attempt * 250, restMs),
      // After a failover the old master may still answer, read-only.
      reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    });
    return new SharedCounters(redis, new ThrottlerStorageRedisService(redis), own, tracing);
  }

  async increment(...hit: Increment): Promise<Record> {
    const now = performance.now();
    if (this.redis.status !== 'ready' || now < this.restsUntil) return this.own.increment(...hit);
    // While one request tries whether it is back, the others do not wait for the outcome.
    if (this.away) this.restsUntil = now + restMs;
    try {
      const record = await this.count(hit);
      this.back();
      return record;
    } catch (error) {
      this.rest(error as Error);
      return this.own.increment(...hit);
    }
  }

  /** Whether Redis counts now, as far as the last request knows. */
  get redisAnswers(): boolean {
    return this.redis.status === 'ready' && !this.away;
  }

  /** One EVAL; its keys name addresses, so the span carries none of it. */
  private count(hit: Increment): Promise<Record> {
    const counted = () => this.shared.increment(...hit);
    if (this.tracing === undefined) return counted();
    const attributes = { ...databaseSystem('redis'), 'db.operation.name': 'EVAL' };
    return this.tracing.span('EVAL', { attributes }, counted);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  private rest(error: Error): void {
    this.restsUntil = performance.now() + restMs;
    if (!this.away) this.logger.warn({ reason: error.message }, 'Redis is away: each replica counts by itself');
    this.away = true;
  }

  private back(): void {
    this.restsUntil = 0;
    if (this.away) this.logger.log('Redis is back: the replicas count together');
    this.away = false;
  }
}
