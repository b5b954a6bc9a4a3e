import { availableParallelism } from 'node:os';
import { HasherStats, PasswordHasher } from '../password-hasher';
import { BcryptEngine, Comparison } from './bcrypt-engine';
import { costOf, dummyHash, MAX_VERIFIED_COST } from './bcrypt-format';
import { HashQueue } from './hash-queue';
import { isHashable } from './hashable';
import { openEngine } from './open-engine';
import { PasswordNotHashable } from './password-not-hashable';

export interface PasswordHasherOptions {
  /** `BCRYPT_COST`, 4 to 14. */
  readonly cost: number;
  /** `HASH_QUEUE_LIMIT`, jobs. */
  readonly queueLimit: number;
  /** `HASH_QUEUE_MAX_WAIT_MS`. */
  readonly queueMaxWaitMs: number;
  /** Monotonic milliseconds, as `performance.now()`. */
  readonly now: () => number;
  /** Threads at a time; all cores by default. The loop gets its share of them from the scheduler (ADR 0004). */
  readonly concurrency?: number;
  readonly engine?: BcryptEngine;
  /** Told in words what an operator should know; never a hash or a password. */
  readonly report?: (problem: string) => void;
  /** Runs the work within a span of the request; undefined where there is no tracing. */
  readonly span?: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

type Request = { readonly password: string; readonly cost: number } | Comparison;

// About 0.04 ms per round on a server core. Only the first moments after the start depend on it.
const MS_PER_ROUND = 0.04;

// New hashes are made by the libraries alone: what our own code works out is compared, never stored.
const fit = (first: Request, second: Request): boolean =>
  'hash' in first && 'hash' in second && costOf(first.hash) === costOf(second.hash);

/** bcrypt of one cost behind the bounded, fair queue; what cannot be compared costs the same work as what can (§2.1). */
export class BcryptPasswordHasher extends PasswordHasher {
  private readonly engine: BcryptEngine;
  private readonly queue: HashQueue<Request, string | boolean>;
  private readonly concurrency: number;
  private readonly dummy: string;

  constructor(private readonly options: PasswordHasherOptions) {
    super();
    this.concurrency = Math.max(1, options.concurrency ?? availableParallelism());
    this.engine = options.engine ?? openEngine('auto');
    this.dummy = dummyHash(options.cost);
    this.queue = new HashQueue({
      serve: (first, second) => this.serve(first, second),
      fit,
      concurrency: this.concurrency,
      limit: options.queueLimit,
      maxWaitMs: options.queueMaxWaitMs,
      expectedMs: MS_PER_ROUND * 2 ** options.cost,
      now: options.now,
    });
    if (this.engine.name !== 'native')
      this.report('the native bcrypt is not in use, bcryptjs does the work more slowly');
  }

  override async hash(password: string, client: string, signal?: AbortSignal): Promise<string> {
    if (!isHashable(password)) throw new PasswordNotHashable();
    const made = await this.inTurn(client, { password, cost: this.options.cost }, signal);
    if (typeof made !== 'string') throw new TypeError('a comparison was answered where a hash was asked for');
    return made;
  }

  override async matches(
    password: string,
    hash: string | null,
    client: string,
    signal?: AbortSignal,
  ): Promise<boolean> {
    const comparable = this.comparable(hash);
    const hashable = isHashable(password);
    // One comparison on every path, of the stored hash's own cost where there is one: the time tells nothing.
    const comparison = { password: hashable ? password : '', hash: comparable ?? this.dummy };
    const same = await this.inTurn(client, comparison, signal);
    return same === true && hashable && comparable !== null;
  }

  override assertRoom(client: string): void {
    this.queue.assertRoom(client);
  }

  override needsRenewal(hash: string): boolean {
    return costOf(hash) !== this.options.cost;
  }

  override stats(): HasherStats {
    return { engine: this.engine.name, concurrency: this.concurrency, ...this.queue.stats() };
  }

  /** Called by Nest once no request is served any more. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Refuses what waits, lets what runs end, then ends the threads. */
  async close(): Promise<void> {
    await this.queue.close();
    await this.engine.close();
  }

  private async inTurn(client: string, request: Request, signal?: AbortSignal): Promise<string | boolean> {
    const { span } = this.options;
    if (span === undefined) return this.queue.run(client, request, signal);
    // Both spans belong to this request. The queue serves a job in the course of whichever request left its place.
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const reply = this.queue.run(client, request, signal, begin);
    await span('hash queue', () => Promise.race([begun, reply]));
    return span('bcrypt', () => reply);
  }

  private async serve(first: Request, second?: Request): Promise<(string | boolean)[]> {
    if ('cost' in first) return [await this.engine.hash(first.password, first.cost)];
    if (!second) return [await this.engine.verify(first.password, first.hash)];
    return this.engine.verifyPair(first, second as Comparison);
  }

  private comparable(hash: string | null): string | null {
    if (hash === null) return null;
    const cost = costOf(hash);
    if (cost !== null && cost <= MAX_VERIFIED_COST) return hash;
    this.report(
      cost === null
        ? 'a stored password is no bcrypt hash and was refused'
        : `a stored password hash of cost ${cost} was refused, the limit is ${MAX_VERIFIED_COST}`,
    );
    return null;
  }

  private report(problem: string): void {
    this.options.report?.(problem);
  }
}
