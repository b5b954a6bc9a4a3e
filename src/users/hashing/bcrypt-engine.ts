/** Whether this password belongs to this well-formed bcrypt hash. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

/** The two bcrypt libraries behind one face, and what compares two at once. It neither queues nor checks: its caller does. */
export interface BcryptEngine {
  readonly name: 'native' | 'bcryptjs';
  /** A `$2b$` hash with a new salt. */
  hash(password: string, cost: number): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /**
   * Both in one thread at once, in little more time than one of them takes alone (ADR 0016).
   * @throws Error where the two hashes are not of one cost
   */
  verifyPair(first: Comparison, second: Comparison): Promise<[boolean, boolean]>;
  /** Ends the threads; what still runs in them is rejected. */
  close(): Promise<void>;
}
