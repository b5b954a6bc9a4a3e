import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Redis } from 'ioredis';
import { databaseSystem } from '../tracing/traced-database';
import type { Tracing } from '../tracing/tracing';
import { LocalCounters } from './local-counters';
import { openRedis } from './redis-client';

/** A request is counted twice. Both waits for a Redis that does not answer stay below 250 ms in total (ADR 0011). */
const commandTimeoutMs = 100;
/** How long Redis is not used after a failure. */
const pauseMs = 5000;

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;
type Increment = Parameters<ThrottlerStorage['increment']>;

/** The count of `redisCounts`: key, milliseconds, limit, milliseconds of a block, name. */
const probe: Increment = ['probe', 60_000, 1_000_000, 0, 'metrics'];

/**
 * Counters that all replicas share through Redis. While Redis is slow or unavailable, each replica counts by itself and
 * no answer waits for Redis. These limits do not protect secrets: the account lock, the attempts at a code and the
 * cooldowns of mails are counted in the database (docs/spec/attacks.md#w56).
 */
export class SharedCounters implements ThrottlerStorage, OnApplicationShutdown {
  private readonly logger = new Logger('limits');
  /** Counts while Redis is away. */
  private readonly own = new LocalCounters();
  private pausedUntil = 0;
  private away = false;

  private constructor(
    private readonly redis: Redis,
    private readonly shared: ThrottlerStorage,
    private readonly tracing: Tracing | undefined,
  ) {
    // Without a listener ioredis writes errors to the console.
    redis.on('error', (error: Error) => this.pause(error));
    redis.on('ready', () => (this.pausedUntil = 0));
  }

  /** Connects in the background. */
  static async open(url: string, tracing?: Tracing): Promise<SharedCounters> {
    const [redis, { ThrottlerStorageRedisService }] = await Promise.all([
      openRedis(url, commandTimeoutMs),
      import('@nest-lab/throttler-storage-redis'),
    ]);
    return new SharedCounters(redis, new ThrottlerStorageRedisService(redis), tracing);
  }

  async increment(...hit: Increment): Promise<Record> {
    const now = performance.now();
    if (this.redis.status !== 'ready' || now < this.pausedUntil) return this.own.increment(...hit);
    // One request tests whether Redis is available again. The others do not wait for its result.
    if (this.away) this.pausedUntil = now + pauseMs;
    return (await this.countShared(hit)) ?? this.own.increment(...hit);
  }

  /**
   * Whether Redis counts now. It counts once by itself, because a replica without requests would not notice an outage, nor
   * its end. A PING would not be enough: a replica of Redis and a Redis without memory answer it, and refuse to count.
   */
  async redisCounts(): Promise<boolean> {
    if (this.redis.status !== 'ready') return false;
    return (await this.countShared(probe)) !== undefined;
  }

  private async countShared(hit: Increment): Promise<Record | undefined> {
    try {
      const record = await this.count(hit);
      this.back();
      return record;
    } catch (error) {
      this.pause(error as Error);
      return undefined;
    }
  }

  /** One EVAL. Its keys contain addresses, so the span has no arguments. */
  private count(hit: Increment): Promise<Record> {
    const counted = () => this.shared.increment(...hit);
    if (this.tracing === undefined) return counted();
    const attributes = { ...databaseSystem('redis'), 'db.operation.name': 'EVAL' };
    return this.tracing.span('EVAL', { attributes }, counted);
  }

  onApplicationShutdown(): void {
    this.redis.disconnect();
  }

  private pause(error: Error): void {
    this.pausedUntil = performance.now() + pauseMs;
    if (!this.away) this.logger.warn({ reason: error.message }, 'Redis is away: each replica counts by itself');
    this.away = true;
  }

  private back(): void {
    this.pausedUntil = 0;
    if (this.away) this.logger.log('Redis is back: the replicas count together');
    this.away = false;
  }
}
