import { networkOf } from '../shared/client-network';
import {
  HashClient,
  HasherStats,
  isHashable,
  isPlainText,
  PasswordHasher,
  PasswordNotHashable,
} from './password-hasher';
import { costOf, dummyHash, MAX_VERIFIED_COST } from './bcrypt-format';
import { type ForeignHash, foreignHashOf, foreignMemoryLimit, UnusableHash } from './foreign-hash';
import { BcryptEngine, Comparison, openEngine } from './engine/bcrypt-engine';
import { HashQueue } from './queue/hash-queue';
import { MemoryBudget } from './queue/memory-budget';

export interface PasswordHasherOptions {
  /** `BCRYPT_COST`, 4 to 14. */
  readonly cost: number;
  /** `HIDE_ACCOUNT_EXISTENCE`: a comparison with a hash of lower cost takes as many rounds as one of `cost`. */
  readonly levelled?: boolean;
  /** `HASH_QUEUE_LIMIT`, jobs. */
  readonly queueLimit: number;
  /** `HASH_QUEUE_MAX_WAIT_MS`. */
  readonly queueMaxWaitMs: number;
  /** Monotonic milliseconds, like `performance.now()`. */
  readonly now: () => number;
  /**
   * `HASH_THREADS`. The scheduler of the system shares the cores between these threads and the event loop (ADR 0004).
   */
  readonly concurrency: number;
  /** `HASH_PAIRS`: false compares every password alone, with the library. */
  readonly pairs?: boolean;
  readonly engine?: BcryptEngine;
  /** Receives messages for the operator. They never contain a hash or a password. */
  readonly report?: (problem: string) => void;
  /** Runs the work within a span of the request. Undefined without tracing. */
  readonly span?: <T>(name: string, work: () => Promise<T>) => Promise<T>;
}

interface ForeignComparison {
  readonly password: string;
  readonly foreign: ForeignHash;
}

type Request = { readonly password: string; readonly cost: number } | Comparison | ForeignComparison;

// The time of one round on a server core, for the expected wait until the first jobs have been measured.
const MS_PER_ROUND = 0.04;
// By this factor a thread makes more comparisons in the same time when it makes two at once (ADR 0016).
const GAIN_OF_PAIRS = 1.5;

// Only comparisons of bcrypt are paired. New hashes come from the libraries, so the module for pairs computes no stored value.
const fit = (first: Request, second: Request): boolean =>
  'hash' in first && 'hash' in second && costOf(first.hash) === costOf(second.hash);

/**
 * bcrypt behind the bounded, fair queue. A password that cannot be compared costs the same work as one that can, so the
 * duration of an answer does not reveal the difference (docs/spec/service.md#2.1).
 */
export class BcryptPasswordHasher extends PasswordHasher {
  private readonly engine: BcryptEngine;
  private readonly queue: HashQueue<Request, string | boolean>;
  private readonly dummy: string;
  private readonly memory = new MemoryBudget(foreignMemoryLimit);

  constructor(private readonly options: PasswordHasherOptions) {
    super();
    this.engine = options.engine ?? openEngine('auto');
    this.dummy = dummyHash(options.cost);
    const pairs = options.pairs !== false;
    this.queue = new HashQueue({
      serve: (first, second) => this.serve(first, second),
      fit: pairs ? fit : () => false,
      concurrency: options.concurrency,
      limit: options.queueLimit,
      maxWaitMs: options.queueMaxWaitMs,
      expectedMs: MS_PER_ROUND * 2 ** options.cost,
      gainOfPairs: pairs ? GAIN_OF_PAIRS : 1,
      work: (request) => this.workOf(request),
      now: options.now,
    });
    if (this.engine.name !== 'native')
      this.report('the native bcrypt is not in use: bcryptjs computes the hashes and is slower');
  }

  override async hash(password: string, client: HashClient): Promise<string> {
    if (!isHashable(password)) throw new PasswordNotHashable();
    const made = await this.run(client, { password, cost: this.options.cost });
    if (typeof made !== 'string') throw new TypeError('expected a hash, got the result of a comparison');
    return made;
  }

  override async matches(password: string, hash: string | null, client: HashClient): Promise<boolean> {
    const comparable = hash === null ? null : this.comparable(hash);
    if (comparable !== null && typeof comparable === 'object') return this.matchesForeign(password, comparable, client);
    const hashable = isHashable(password);
    // Every path makes one comparison, with the cost of the stored hash if there is one. `levelled` adds comparisons.
    const comparison = { password: hashable ? password : '', hash: comparable ?? this.dummy };
    const same = await this.run(client, comparison);
    return same === true && hashable && comparable !== null;
  }

  private async matchesForeign(password: string, foreign: ForeignHash, client: HashClient): Promise<boolean> {
    // The other systems read all of a password, so it may be longer than 72 bytes.
    const plain = isPlainText(password);
    return (await this.run(client, { password: plain ? password : '', foreign })) === true && plain;
  }

  override assertCapacity(client: HashClient): void {
    this.queue.assertCapacity(networkOf(client.ip), client);
  }

  override reserve(client: HashClient): () => void {
    this.queue.reserve(networkOf(client.ip), client);
    return () => this.queue.release(client);
  }

  override needsRenewal(hash: string): boolean {
    return (costOf(hash) ?? 0) < this.options.cost;
  }

  override stats(): HasherStats {
    return { engine: this.engine.name, concurrency: this.options.concurrency, ...this.queue.stats() };
  }

  /** Nest calls this method after the last request has been answered. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Refuses the jobs that wait, lets the running jobs end, then ends the threads. */
  async close(): Promise<void> {
    await this.queue.close();
    await this.engine.close();
  }

  private async run(client: HashClient, request: Request): Promise<string | boolean> {
    const { span } = this.options;
    const { ip, signal } = client;
    if (span === undefined) return this.queue.run(networkOf(ip), request, signal, undefined, client);
    // Both spans are opened here, so that they belong to this request. The queue starts a job in the asynchronous
    // context of another request: the one whose job has just ended.
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const reply = this.queue.run(networkOf(ip), request, signal, begin, client);
    await span('hash queue', () => Promise.race([begun, reply]));
    return span('bcrypt', () => reply);
  }

  private async serve(first: Request, second?: Request): Promise<(string | boolean)[]> {
    if ('cost' in first) return [await this.engine.hash(first.password, first.cost)];
    if ('foreign' in first) return [await this.compareForeign(first)];
    const verdicts = await this.compare(first, second as Comparison | undefined);
    for (const cost of this.missingCosts(first.hash)) {
      const dummy = { password: first.password, hash: dummyHash(cost) };
      await this.compare(dummy, second && dummy);
    }
    return verdicts;
  }

  /**
   * One comparison of bcrypt follows, so that a cheap hash of another system is not faster than an unknown user. The
   * time of a costly one comes on top and cannot be hidden (ADR 0030).
   */
  private async compareForeign({ password, foreign }: ForeignComparison): Promise<boolean> {
    const same = await this.memory.run(foreign.memory, () => this.engine.verifyForeign(password, foreign));
    await this.engine.verify(isHashable(password) ? password : '', this.dummy);
    return same;
  }

  private async compare(first: Comparison, second?: Comparison): Promise<boolean[]> {
    if (!second) return [await this.engine.verify(first.password, first.hash)];
    return this.engine.verifyPair(first, second);
  }

  /**
   * The work of a job, in jobs of the configured cost. The work of a hash of another system is not known before it is
   * computed, so it counts as one such job.
   */
  private workOf(request: Request): number {
    const cost = 'hash' in request ? costOf(request.hash) : null;
    if (cost === null || (this.options.levelled && cost < this.options.cost)) return 1;
    return 2 ** (cost - this.options.cost);
  }

  /**
   * The costs of the additional comparisons that bring the rounds of this hash up to those of the configured cost. Each
   * cost has twice the rounds of the cost below it: 2^5 + 2^5 + 2^6 = 2^7. A hash of a higher cost needs no comparison.
   */
  private missingCosts(hash: string): number[] {
    if (!this.options.levelled) return [];
    const cost = costOf(hash) ?? this.options.cost;
    return Array.from({ length: Math.max(0, this.options.cost - cost) }, (_, n) => cost + n);
  }

  /** What a password can be compared with; null when the stored value must not be or cannot be computed. */
  private comparable(hash: string): string | ForeignHash | null {
    const cost = costOf(hash);
    if (cost !== null && cost <= MAX_VERIFIED_COST) return hash;
    try {
      const foreign = cost === null ? foreignHashOf(hash) : undefined;
      if (foreign !== undefined) return foreign;
      this.report(
        cost === null
          ? 'a stored password is not a hash of a known format and was refused'
          : `a stored password hash of cost ${cost} was refused: the limit is ${MAX_VERIFIED_COST}`,
      );
    } catch (error) {
      if (!(error instanceof UnusableHash)) throw error;
      this.report(`a stored password hash was refused: ${error.message}`);
    }
    return null;
  }

  private report(problem: string): void {
    this.options.report?.(problem);
  }
}
