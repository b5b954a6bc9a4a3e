import { DomainError } from '../shared/errors/domain-error';
import { serviceUnavailable } from '../shared/errors/error-catalogue';

/** What the metrics may show of the engine: counts and times, never a client or a password. */
export interface HasherStats {
  readonly engine: 'native' | 'bcryptjs';
  /** Threads that may work at once. */
  readonly concurrency: number;
  readonly waiting: number;
  /** Threads at work, each on one job or on two that share it. */
  readonly running: number;
  /** Moving average of a thread's time for one job in milliseconds; before the first job a guess from the cost. */
  readonly averageMs: number;
  readonly completed: number;
  readonly refused: number;
  readonly abandoned: number;
}

/** For whom a hash is computed. Every ClientInfo is one. */
export interface HashClient {
  /** Turns are shared between the networks of these addresses: an IPv6 client's whole /64 has one turn. */
  readonly ip: string;
  /**
   * When it fires while the job still waits, the job leaves the queue unhashed and is rejected with the signal's reason.
   * A job that runs is finished.
   */
  readonly signal?: AbortSignal;
}

/**
 * The only way to a bcrypt: off the event loop, on at most `HASH_THREADS` threads, in fair turns
 * between clients, and refused at once where the wait would be too long (§2.1, ADR 0004).
 */
export abstract class PasswordHasher {
  /**
   * A bcrypt hash `$2b$cc$…` of the configured cost with a new salt.
   * @throws HashQueueFull when too many wait
   * @throws PasswordNotHashable over 72 bytes in UTF-8, with NUL or with a lone surrogate
   */
  abstract hash(password: string, client: HashClient): Promise<string>;

  /**
   * Whether the password belongs to the stored hash. False, after the work of one bcrypt all the same, for a password
   * that cannot be hashed, for null (unknown user, user without a password), for a stored value that is no bcrypt hash
   * or whose cost is over 14 (the latter two are reported as well).
   * @throws HashQueueFull when too many wait
   */
  abstract matches(password: string, hash: string | null, client: HashClient): Promise<boolean>;

  /**
   * To be asked before work that would be for nothing. Nothing is reserved: the queue decides again when the hash comes.
   * @throws HashQueueFull where a hash would be refused now
   */
  abstract assertRoom(client: HashClient): void;

  /** Whether the stored hash has a lower cost than the configured one, to be renewed at the next right password. */
  abstract needsRenewal(hash: string): boolean;

  abstract stats(): HasherStats;
}

/** No hash was computed: too many wait. COMMON_503001 with `data.retry_after`. */
export class HashQueueFull extends DomainError {
  override readonly name = 'HashQueueFull';

  /** @param retryAfterSeconds whole seconds, at least 1, after which the work that waits now should be done */
  constructor(readonly retryAfterSeconds: number) {
    super(serviceUnavailable, { retry_after: retryAfterSeconds });
  }
}

/** bcrypt would cut or misread this password, so it is refused instead of set (AUTH_400007). */
export class PasswordNotHashable extends Error {
  override readonly name = 'PasswordNotHashable';

  constructor() {
    super('a password has at most 72 bytes in UTF-8, no NUL and no lone surrogate');
  }
}

/** bcrypt reads 72 bytes and ignores the rest. */
const MAX_BYTES = 72;

/**
 * Whether bcrypt sees every byte of this password: at most 72 bytes in UTF-8, no NUL (some implementations end there),
 * no lone surrogate (all of them encode as U+FFFD, so different passwords would become one).
 */
export function isHashable(password: string): boolean {
  return (
    Buffer.byteLength(password, 'utf8') <= MAX_BYTES && !password.includes('\0') && !/\p{Surrogate}/u.test(password)
  );
}

/** Prefix, cost and salt `$2b$cc$…` (29 characters) as kept in `users.salt`. */
export function saltOf(hash: string): string {
  return hash.slice(0, 29);
}
