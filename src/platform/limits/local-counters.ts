import type { ThrottlerStorage } from '@nestjs/throttler';
import { RecentKeys } from '../../shared/recent-keys';

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;

interface Count {
  hits: number;
  /** Milliseconds of the monotonic clock, like all times here. */
  windowEnds: number;
  blockedUntil: number;
}

const secondsUntil = (time: number, now: number) => Math.ceil((time - now) / 1000);

/** Both maps together need about 12 MB when they are full. */
const defaultCapacity = 20_000;

/**
 * The counters of one process. They behave like those in Redis: a window begins with the first hit, and a client over
 * the limit is blocked for the block duration. A key has one small record, without a timer or a list of hits. The
 * in-memory storage of @nestjs/throttler keeps the time of each hit of the last minute and filters them at each request
 * (ADR 0014).
 *
 * Clients choose the keys, so memory is bounded. Keys that were hit once evict only each other. A flood of new keys
 * therefore resets no other count and ends no block.
 */
export class LocalCounters implements ThrottlerStorage {
  /** Keys that were hit once in their window. */
  private readonly once: RecentKeys<Count>;
  /** Keys that were hit more than once in their window, including the blocked ones. */
  private readonly again: RecentKeys<Count>;
  private readonly now: () => number;

  /**
   * @param options.now whole milliseconds of a monotonic clock
   * @param options.capacity keys of each of the two maps
   */
  constructor({ now, capacity }: { now?: () => number; capacity?: number } = {}) {
    this.now = now ?? (() => Math.floor(performance.now()));
    this.once = new RecentKeys(capacity ?? defaultCapacity);
    this.again = new RecentKeys(capacity ?? defaultCapacity);
  }

  get size(): number {
    return this.once.size + this.again.size;
  }

  /** @param ttl and blockDuration are milliseconds. The times of the result are whole seconds, rounded up. */
  increment(key: string, ttl: number, limit: number, blockDuration: number, throttlerName: string): Promise<Record> {
    const now = this.now();
    const count = this.countOf(`${throttlerName}:${key}`, now, ttl, blockDuration);
    const waiting = count.blockedUntil > now;
    if (!waiting) {
      count.hits += 1;
      if (count.hits > limit) count.blockedUntil = now + blockDuration;
    }
    const isBlocked = count.blockedUntil > now;
    return Promise.resolve({
      totalHits: count.hits,
      timeToExpire: secondsUntil(count.windowEnds, now),
      isBlocked,
      timeToBlockExpire: isBlocked ? secondsUntil(count.blockedUntil, now) : 0,
    });
  }

  private countOf(key: string, now: number, ttl: number, blockDuration: number): Count {
    const repeated = this.again.get(key);
    if (repeated !== undefined && isCurrent(repeated, now)) return repeated;
    const first = this.once.get(key);
    const second = first !== undefined && isCurrent(first, now);
    this.again.delete(key);
    this.once.delete(key);
    const [counts, count] = second
      ? [this.again, first]
      : [this.once, { hits: 0, windowEnds: now + ttl, blockedUntil: 0 }];
    counts.set(key, count, now, ttl + blockDuration);
    return count;
  }
}

/** The end of a block also ends the window. Otherwise the next hit would exceed the limit again. */
function isCurrent(count: Count, now: number): boolean {
  return !isOver(count, now) && (count.blockedUntil === 0 || count.blockedUntil > now);
}

function isOver({ windowEnds, blockedUntil }: Count, now: number): boolean {
  return windowEnds <= now && blockedUntil <= now;
}
