import { FairQueue } from './fair-queue';
import { HashQueueFull } from '../password-hasher';

export interface HashQueueOptions<Request, Reply> {
  /** Does one request, or two that fit; the replies in their order. */
  readonly serve: (first: Request, second?: Request) => Promise<readonly Reply[]>;
  /** Whether the two can be done at once in one place. */
  readonly fit: (first: Request, second: Request) => boolean;
  /** Places: how many are served at a time. */
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

interface Job<Request, Reply> {
  readonly request: Request;
  readonly since: number;
  /** It is being served from now on. */
  readonly begun: () => void;
  /** It does not wait any more. */
  leave(): void;
  resolve(reply: Reply): void;
  reject(reason: Error): void;
}

// The newest weighs a tenth: one that was disturbed changes little, a changed cost is learnt within some twenty.
const WEIGHT = 0.1;

/**
 * Bounds the work: so many places, so many waiting, nobody let in who would wait too long; in fair turns. Where two that
 * fit wait one behind the other they share a place; nobody waits for a companion.
 * Refusing is decided from numbers at hand, so a refusal costs no time (decisions 8, `HASH_QUEUE_*`).
 */
export class HashQueue<Request, Reply> {
  private readonly waiting = new FairQueue<Job<Request, Reply>>();
  private running = 0;
  private completed = 0;
  private refused = 0;
  private abandoned = 0;
  /** Moving average of what one job takes of a place's time: half of it where two shared the place. */
  private averageMs: number;
  /** Moving average of how long a place is taken, by one job or by two. */
  private placeMs: number;
  private closing: Promise<void> | undefined;
  private whenIdle: () => void = () => undefined;

  constructor(private readonly options: HashQueueOptions<Request, Reply>) {
    this.averageMs = options.expectedMs;
    this.placeMs = options.expectedMs;
  }

  /** Serves the request in this client's turn. @throws HashQueueFull, or the signal's reason if it fires before the start */
  async run(
    client: string,
    request: Request,
    signal?: AbortSignal,
    begun: () => void = () => undefined,
  ): Promise<Reply> {
    signal?.throwIfAborted();
    this.assertRoom(client);
    return new Promise<Reply>((resolve, reject) => {
      const abandon = () => {
        if (!this.waiting.remove(client, job)) return;
        this.abandoned += 1;
        reject(signal?.reason as Error);
      };
      const leave = () => signal?.removeEventListener('abort', abandon);
      const job = { request, since: this.options.now(), begun, leave, resolve, reject };
      signal?.addEventListener('abort', abandon, { once: true });
      this.waiting.push(client, job);
      this.startNext();
    });
  }

  /** @throws HashQueueFull where `run` would be refused now */
  assertRoom(client: string): void {
    if (this.closing) throw this.refusal(0);
    if (this.running < this.options.concurrency) return;
    // Those under way are half done, then come those before it, then itself.
    const before = (this.waiting.ahead(client) / this.options.concurrency) * this.averageMs;
    const expectedMs = before + 1.5 * this.placeMs;
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
      for (const job of this.waiting.drain()) this.refuse(job, 0);
      if (this.running === 0) resolve();
    });
    return this.closing;
  }

  private refusal(expectedMs: number): HashQueueFull {
    this.refused += 1;
    return new HashQueueFull(Math.max(1, Math.ceil(expectedMs / 1000)));
  }

  private refuse(job: Job<Request, Reply>, expectedMs: number): void {
    job.leave();
    job.reject(this.refusal(expectedMs));
  }

  private startNext(): void {
    while (this.running < this.options.concurrency) {
      const first = this.take();
      if (!first) break;
      const second = this.take((request) => this.options.fit(first.request, request));
      void this.serve(first, second);
    }
    if (this.running === 0) this.whenIdle();
  }

  /** Takes the job whose turn it is, if the condition holds for it; refuses those on the way that are late. */
  private take(condition: (request: Request) => boolean = () => true): Job<Request, Reply> | undefined {
    for (let job = this.waiting.peek(); job; job = this.waiting.peek()) {
      // Turns of clients that came later, or a stalled machine, can make a wait longer than it was expected to be.
      // At twice the promise nobody is there any more: hashing it would only delay those who still are.
      const isLate = this.options.now() - job.since > 2 * this.options.maxWaitMs;
      if (!isLate && !condition(job.request)) return undefined;
      this.waiting.shift();
      if (!isLate) return job;
      this.refuse(job, this.options.maxWaitMs);
    }
    return undefined;
  }

  private async serve(first: Job<Request, Reply>, second?: Job<Request, Reply>): Promise<void> {
    const jobs = second ? [first, second] : [first];
    this.running += 1;
    for (const job of jobs) {
      job.leave();
      job.begun();
    }
    const begun = this.options.now();
    try {
      const replies = await this.options.serve(first.request, second?.request);
      this.learn(this.options.now() - begun, jobs.length);
      jobs.forEach((job, index) => job.resolve(replies[index] as Reply));
    } catch (error) {
      for (const job of jobs) job.reject(error as Error);
    } finally {
      this.running -= 1;
      this.startNext();
    }
  }

  private learn(placeMs: number, jobs: number): void {
    this.completed += jobs;
    this.placeMs += WEIGHT * (placeMs - this.placeMs);
    this.averageMs += WEIGHT * (placeMs / jobs - this.averageMs);
  }
}
