/** The two bcrypt libraries behind one face. It neither queues nor checks: its caller does. */
export interface BcryptEngine {
  readonly name: 'native' | 'bcryptjs';
  /** A `$2b$` hash with a new salt. */
  hash(password: string, cost: number): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /** Ends the threads; what still runs in them is rejected. */
  close(): Promise<void>;
}
