import type { ThrottlerStorage } from '@nestjs/throttler';

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;

interface Count {
  hits: number;
  /** Milliseconds of the monotonic clock, like all times here. */
  windowEnds: number;
  blockedUntil: number;
}

const secondsUntil = (time: number, now: number) => Math.ceil((time - now) / 1000);

/**
 * The counters of one process: a window begins with the first hit, and who exceeds the limit waits for the block's length,
 * as with the counters in Redis. One small record for a key, no timer and no list of hits: the throttler's own storage
 * keeps a time for each hit of the last minute and filters them all at each request (ADR 0014).
 */
export class LocalCounters implements ThrottlerStorage {
  /** In the order in which their windows began, so that the oldest is always the next to be forgotten. */
  private readonly counts = new Map<string, Count>();

  /** @param now whole milliseconds of a clock that nobody sets */
  constructor(private readonly now: () => number = () => Math.floor(performance.now())) {}

  get size(): number {
    return this.counts.size;
  }

  /** @param ttl and blockDuration in milliseconds; the record's times are whole seconds, rounded up */
  increment(key: string, ttl: number, limit: number, blockDuration: number, throttlerName: string): Promise<Record> {
    const now = this.now();
    const count = this.countOf(`${throttlerName}:${key}`, ttl, now);
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

  private countOf(key: string, ttl: number, now: number): Count {
    const known = this.counts.get(key);
    // The end of a block ends the window as well, or the next hit would be over the limit again.
    if (known !== undefined && !isOver(known, now) && (known.blockedUntil === 0 || known.blockedUntil > now))
      return known;
    this.forgetOldest(now);
    const fresh = { hits: 0, windowEnds: now + ttl, blockedUntil: 0 };
    this.counts.delete(key);
    this.counts.set(key, fresh);
    return fresh;
  }

  /** For a new one two old ones may go: never much work at once, and never more of them than began in the last windows. */
  private forgetOldest(now: number): void {
    let spared = 2;
    for (const [key, count] of this.counts) {
      if (spared-- === 0 || !isOver(count, now)) return;
      this.counts.delete(key);
    }
  }
}

function isOver({ windowEnds, blockedUntil }: Count, now: number): boolean {
  return windowEnds <= now && blockedUntil <= now;
}
