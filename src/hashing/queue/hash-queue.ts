import { FairQueue } from './fair-queue';
import { JobTimes, type ServedCall } from './job-times';
import { HashQueueFull } from '../password-hasher';

export interface HashQueueOptions<Request, Reply> {
  /** Serves one request, or two that `fit`. Resolves to the replies in the same order. */
  readonly serve: (first: Request, second?: Request) => Promise<readonly Reply[]>;
  /** Returns whether one worker can serve the two requests at once. */
  readonly fit: (first: Request, second: Request) => boolean;
  /** The number of workers: how many calls of `serve` run at the same time. */
  readonly concurrency: number;
  /** The most jobs that may wait. */
  readonly limit: number;
  /** A new job is refused when it is expected to take longer than this, in milliseconds. */
  readonly maxWaitMs: number;
  /** Assumed milliseconds of one call of `serve`, used until calls have been measured. */
  readonly expectedMs: number;
  /** By this factor a worker serves more jobs in the same time when it serves two at once. Default 1: it never does. */
  readonly gainOfPairs?: number;
  /** The work of a job. Default 1: the work of the configured cost. */
  readonly work?: (request: Request) => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

interface Job<Request, Reply> {
  readonly request: Request;
  readonly since: number;
  /** Called when the job starts. */
  readonly begun: () => void;
  /** Removes the listener of the abort signal: the job no longer waits. */
  stopListening(): void;
  resolve(reply: Reply): void;
  reject(reason: Error): void;
}

// Weight of the newest job in the moving average that the metrics show.
const WEIGHT = 0.1;

/**
 * A bounded queue that is fair between clients (docs/spec/decisions.md#8, `HASH_QUEUE_*`). It limits the jobs that run
 * and the jobs that wait, and refuses a job that would wait too long. A refusal is decided from counters and costs no
 * time. Two jobs that fit and are next in the queue are served together; a job never waits for a second one.
 */
export class HashQueue<Request, Reply> {
  private readonly waiting = new FairQueue<Job<Request, Reply>>();
  /** Places of jobs that are expected but have not come yet. */
  private readonly reserved = new Set<object>();
  private readonly refusals = new Map<number, HashQueueFull>();
  private running = 0;
  private completed = 0;
  private refused = 0;
  private abandoned = 0;
  /** Moving average of a worker's time per job, for the metrics. Two jobs that are served together take half each. */
  private averageMs: number;
  private readonly times: JobTimes;
  private closing: Promise<void> | undefined;
  private whenIdle: () => void = () => undefined;

  constructor(private readonly options: HashQueueOptions<Request, Reply>) {
    this.averageMs = options.expectedMs;
    this.times = new JobTimes({ ms: options.expectedMs, jobs: this.gain, work: 1 }, options.concurrency);
  }

  /**
   * Keeps a place for the next job of `holder`, until it comes or `release` is called. Without it a thousand requests of
   * one moment would all find an empty queue, and most would be refused only after other work was done for them.
   * @throws HashQueueFull when `run` would be refused now
   */
  reserve(client: string, holder: object): void {
    this.assertCapacity(client);
    this.reserved.add(holder);
  }

  release(holder: object): void {
    this.reserved.delete(holder);
  }

  /**
   * @param holder whose reserved place the job takes, if it has one
   * @throws HashQueueFull, or the reason of the signal when it is aborted before the job starts
   */
  async run(
    client: string,
    request: Request,
    signal?: AbortSignal,
    begun: () => void = () => undefined,
    holder?: object,
  ): Promise<Reply> {
    signal?.throwIfAborted();
    if (holder === undefined || !this.reserved.delete(holder)) this.assertCapacity(client);
    else if (this.closing) throw this.refusal(0);
    return new Promise<Reply>((resolve, reject) => {
      const abandon = () => {
        if (!this.waiting.remove(client, job)) return;
        this.abandoned += 1;
        reject(signal?.reason as Error);
      };
      const stopListening = () => signal?.removeEventListener('abort', abandon);
      const job = { request, since: this.options.now(), begun, stopListening, resolve, reject };
      signal?.addEventListener('abort', abandon, { once: true });
      this.waiting.push(client, job);
      this.startNext();
    });
  }

  /**
   * @param holder a job with a reserved place is not refused
   * @throws HashQueueFull when `run` would be refused now
   */
  assertCapacity(client: string, holder?: object): void {
    if (this.closing) throw this.refusal(0);
    if (holder !== undefined && this.reserved.has(holder)) return;
    // Reserved places that will have to wait, because there are more of them than free workers.
    const coming = this.running + this.reserved.size - this.options.concurrency;
    if (coming < 0) return;
    // Expected: half of a running job on average, then the jobs before the new one, then the new one itself.
    const now = this.options.now();
    const before = ((this.waiting.ahead(client) + coming) / this.options.concurrency) * this.times.shareMs(now);
    const expectedMs = before + 1.5 * this.times.callMs(now);
    if (this.waiting.size + coming >= this.options.limit || expectedMs > this.options.maxWaitMs)
      throw this.refusal(expectedMs);
  }

  stats() {
    const { running, averageMs, completed, refused, abandoned } = this;
    return { waiting: this.waiting.size, running, averageMs, completed, refused, abandoned };
  }

  /** Refuses the waiting jobs and all new ones. Resolves when the running jobs have ended. */
  close(): Promise<void> {
    this.closing ??= new Promise((resolve) => {
      this.whenIdle = resolve;
      for (const job of this.waiting.drain()) this.refuse(job, 0);
      if (this.running === 0) resolve();
    });
    return this.closing;
  }

  private get gain(): number {
    return this.options.gainOfPairs ?? 1;
  }

  private refusal(expectedMs: number): HashQueueFull {
    this.refused += 1;
    const seconds = Math.max(1, Math.ceil(expectedMs / 1000));
    // One error for all refusals of the same wait: its stack trace costs more than the rest of a refusal.
    const refusal = this.refusals.get(seconds) ?? new HashQueueFull(seconds);
    this.refusals.set(seconds, refusal);
    return refusal;
  }

  private refuse(job: Job<Request, Reply>, expectedMs: number): void {
    job.stopListening();
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

  /** Takes the next job if the condition holds for it. Jobs that have waited too long are refused on the way. */
  private take(condition: (request: Request) => boolean = () => true): Job<Request, Reply> | undefined {
    for (let job = this.waiting.peek(); job; job = this.waiting.peek()) {
      // Later clients or a stalled machine can make a wait longer than expected. After twice the limit the client has
      // most likely given up: hashing for it would only delay the others.
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
      job.stopListening();
      job.begun();
    }
    const begun = this.options.now();
    this.times.begin(begun);
    // A job that runs alone while nothing waits counts as one of a pair, if its kind is served in pairs: in an overload it would
    // have had a second one.
    const inPairs = this.waiting.size === 0 && this.options.fit(first.request, first.request);
    const inOverload = second ? 2 : inPairs ? this.gain : 1;
    let served: ServedCall | undefined;
    try {
      const replies = await this.options.serve(first.request, second?.request);
      const work = this.options.work?.(first.request) ?? 1;
      served = { ms: this.options.now() - begun, jobs: inOverload, work };
      this.completed += jobs.length;
      this.averageMs += WEIGHT * (served.ms / jobs.length - this.averageMs);
      jobs.forEach((job, index) => job.resolve(replies[index] as Reply));
    } catch (error) {
      for (const job of jobs) job.reject(error as Error);
    } finally {
      this.running -= 1;
      this.times.end(this.options.now(), served);
      this.startNext();
    }
  }
}
