import { FairQueue } from './fair-queue';
import { HashQueueFull } from './hash-queue-full';

export interface HashQueueOptions {
  /** Jobs at a time. */
  readonly concurrency: number;
  /** Jobs that may wait. */
  readonly limit: number;
  /** Milliseconds a new job may expect to take until it is done. */
  readonly maxWaitMs: number;
  /** Milliseconds one job is thought to take until the first ones have been measured. */
  readonly expectedMs: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Job {
  readonly since: number;
  start(): void;
  refuse(reason: Error): void;
}

// New jobs weigh a tenth: one that was disturbed changes little, a changed cost is learnt within some twenty.
const WEIGHT = 0.1;

/**
 * Bounds the work: so many jobs at a time, so many waiting, nobody let in who would wait too long; in fair turns.
 * Refusing is decided from numbers at hand, so a refusal costs no time (decisions 8, `HASH_QUEUE_*`).
 */
export class HashQueue {
  private readonly waiting = new FairQueue<Job>();
  private running = 0;
  private completed = 0;
  private refused = 0;
  private abandoned = 0;
  private averageMs: number;
  private closing: Promise<void> | undefined;
  private whenIdle: () => void = () => undefined;

  constructor(private readonly options: HashQueueOptions) {
    this.averageMs = options.expectedMs;
  }

  /** Runs the work in this client's turn. @throws HashQueueFull, or the signal's reason if it fires before the start */
  async run<T>(client: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    this.assertRoom(client);
    if (this.running < this.options.concurrency) return this.execute(work);
    return this.wait(client, work, signal);
  }

  /** @throws HashQueueFull where `run` would be refused now */
  assertRoom(client: string): void {
    if (this.closing) throw this.refusal(0);
    if (this.running < this.options.concurrency) return;
    // Those under way are half done, then come those before it, then itself.
    const expectedMs = (this.waiting.ahead(client) / this.options.concurrency + 1.5) * this.averageMs;
    if (this.waiting.size >= this.options.limit || expectedMs > this.options.maxWaitMs) throw this.refusal(expectedMs);
  }

  stats() {
    const { running, averageMs, completed, refused, abandoned } = this;
    return { waiting: this.waiting.size, running, averageMs, completed, refused, abandoned };
  }

  /** Refuses what waits and what comes, and resolves when the jobs that run have ended. */
  close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.whenIdle = resolve;
      for (const job of this.waiting.drain()) job.refuse(this.refusal(0));
      if (this.running === 0) resolve();
    });
    return this.closing;
  }

  private refusal(expectedMs: number): HashQueueFull {
    this.refused += 1;
    return new HashQueueFull(Math.max(1, Math.ceil(expectedMs / 1000)));
  }

  private wait<T>(client: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const abandon = () => {
        if (!this.waiting.remove(client, job)) return;
        this.abandoned += 1;
        reject(signal?.reason as Error);
      };
      const job: Job = {
        since: this.options.now(),
        start: () => {
          signal?.removeEventListener('abort', abandon);
          resolve(this.execute(work));
        },
        refuse: (reason) => {
          signal?.removeEventListener('abort', abandon);
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this.waiting.push(client, job);
    });
  }

  private async execute<T>(work: () => Promise<T>): Promise<T> {
    this.running += 1;
    const begun = this.options.now();
    try {
      const result = await work();
      this.completed += 1;
      this.averageMs += WEIGHT * (this.options.now() - begun - this.averageMs);
      return result;
    } finally {
      this.running -= 1;
      this.startNext();
    }
  }

  private startNext(): void {
    while (this.running < this.options.concurrency) {
      const job = this.waiting.shift();
      if (!job) break;
      // Turns of clients that came later, or a stalled machine, can make a wait longer than it was expected to be.
      // At twice the promise nobody is there any more: hashing it would only delay those who still are.
      const waitedMs = this.options.now() - job.since;
      if (waitedMs > 2 * this.options.maxWaitMs) job.refuse(this.refusal(this.options.maxWaitMs));
      else job.start();
    }
    if (this.running === 0) this.whenIdle();
  }
}
