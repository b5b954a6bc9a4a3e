import { DomainError } from '../shared/errors/domain-error';
import { serviceUnavailable } from '../shared/errors/error-catalogue';

/** What the metrics show of password hashing: counts and times, never a client or a password. */
export interface HasherStats {
  readonly engine: 'native' | 'bcryptjs';
  /** The most threads that work at the same time. */
  readonly concurrency: number;
  readonly waiting: number;
  /** Threads that are working now, each on one job or on two jobs at once. */
  readonly running: number;
  /**
   * Moving average of a thread's time for one job, in milliseconds. Before the first job it is estimated from the cost.
   */
  readonly averageMs: number;
  readonly completed: number;
  readonly refused: number;
  readonly abandoned: number;
}

/** The client that a hash is computed for. Every ClientInfo is a HashClient. */
export interface HashClient {
  /** The queue is fair between the networks of clients. All addresses of an IPv6 /64 are one network. */
  readonly ip: string;
  /**
   * Aborting it removes a job that still waits from the queue. The job is rejected with the reason of the signal.
   * A job that already runs is finished.
   */
  readonly signal?: AbortSignal;
}

/**
 * All password hashing goes through this class. It runs outside the event loop on at most `HASH_THREADS` threads,
 * shares them fairly between clients, and refuses at once when the wait would be too long (docs/spec/service.md#2.1,
 * ADR 0004).
 */
export abstract class PasswordHasher {
  /**
   * Returns a bcrypt hash `$2b$cc$…` of the configured cost with a new salt.
   * @throws HashQueueFull when the queue is full or the wait would be too long
   * @throws PasswordNotHashable see `isHashable`
   */
  abstract hash(password: string, client: HashClient): Promise<string>;

  /**
   * Returns whether the password belongs to the stored hash. The result is false for a password that cannot be hashed,
   * for null (unknown user, user without a password), for a stored value that is not a hash of a known format, and for a
   * hash that is too costly. All these cases take the work of one bcrypt hash. The last two are also reported to the
   * operator. A hash of another system (`foreign-hash.ts`) takes its own work and that of one bcrypt hash.
   * @throws HashQueueFull when the queue is full or the wait would be too long
   */
  abstract matches(password: string, hash: string | null, client: HashClient): Promise<boolean>;

  /**
   * Lets a caller refuse a request before it does other work for it. It reserves nothing: `hash` and `matches` can
   * still be refused later.
   * @throws HashQueueFull when a hash would be refused now
   */
  abstract assertCapacity(client: HashClient): void;

  /**
   * Like `assertCapacity`, and keeps a place in the queue for the next hash of this client object.
   * @returns the function that gives the place back, if it was not used. It may be called at any time.
   * @throws HashQueueFull when a hash would be refused now
   */
  abstract reserve(client: HashClient): () => void;

  /**
   * Returns whether the stored hash has a lower cost than the configured one, or comes from another system. The next
   * correct password renews it.
   */
  abstract needsRenewal(hash: string): boolean;

  abstract stats(): HasherStats;
}

/** The queue refused the job and computed no hash: COMMON_503001 with `data.retry_after`. */
export class HashQueueFull extends DomainError {
  override readonly name = 'HashQueueFull';

  /** @param retryAfterSeconds whole seconds, at least 1: the expected time for the jobs that wait now */
  constructor(readonly retryAfterSeconds: number) {
    super(serviceUnavailable, { retry_after: retryAfterSeconds });
  }
}

/** bcrypt would cut off or misread this password, so it cannot be set (AUTH_400007). */
export class PasswordNotHashable extends Error {
  override readonly name = 'PasswordNotHashable';

  constructor() {
    super('a password has at most 72 bytes in UTF-8, no NUL and no lone surrogate');
  }
}

/** bcrypt reads the first 72 bytes and ignores the rest. */
const MAX_BYTES = 72;

/**
 * Returns whether bcrypt sees every byte of this password. That needs at most 72 bytes in UTF-8, no NUL (some
 * implementations stop there) and no lone surrogate (all are encoded as U+FFFD, so different passwords would be equal).
 */
export function isHashable(password: string): boolean {
  return Buffer.byteLength(password, 'utf8') <= MAX_BYTES && isPlainText(password);
}

/** No NUL and no lone surrogate. A hash of another system has no other limit. */
export function isPlainText(password: string): boolean {
  return !password.includes('\0') && !/\p{Surrogate}/u.test(password);
}
