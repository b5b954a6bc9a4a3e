import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ForeignHash } from '../foreign-hash';
import { WorkerPool } from './worker-pool';

/** A password and the well-formed bcrypt hash to compare it with. */
export interface Comparison {
  readonly password: string;
  readonly hash: string;
}

/**
 * One interface for both bcrypt libraries and for the pair comparison. The caller checks the arguments and queues the
 * calls.
 */
export interface BcryptEngine {
  readonly name: 'native' | 'bcryptjs';
  /** Returns a `$2b$` hash with a new salt. */
  hash(password: string, cost: number): Promise<string>;
  verify(password: string, hash: string): Promise<boolean>;
  /**
   * Makes both comparisons at once in one thread, in little more time than one comparison takes (ADR 0016).
   * @throws Error when the hashes differ in cost
   */
  verifyPair(first: Comparison, second: Comparison): Promise<[boolean, boolean]>;
  /** Compares a password with the hash of another system. Takes the memory that the hash names. */
  verifyForeign(password: string, hash: ForeignHash): Promise<boolean>;
  /** Ends the threads. Jobs that still run are rejected. */
  close(): Promise<void>;
}

export type EngineChoice = 'native' | 'bcryptjs' | 'auto';

/** The messages that `hash-worker.js` accepts: one hash to make, one foreign hash, or one or two comparisons. */
type Request =
  | { hash: { password: string; cost: number } }
  | { foreign: { password: string; hash: ForeignHash } }
  | { comparisons: Comparison[] };

const PACKAGES = { native: '@node-rs/bcrypt', bcryptjs: 'bcryptjs' } as const;
const WORKER = join(__dirname, 'hash-worker.js');

/**
 * Opens the chosen library. `auto` opens the native one, or bcryptjs when the native binary does not load.
 * @param load loads a package, and throws when it cannot be used on this machine
 * @throws Error for `native` when its binary does not load
 */
export function openEngine(
  choice: EngineChoice,
  load: (id: string) => unknown = createRequire(__filename),
): BcryptEngine {
  if (choice === 'bcryptjs') return engine('bcryptjs');
  try {
    load(PACKAGES.native);
    return engine('native');
  } catch (cause) {
    if (choice === 'native') throw new Error(`${PACKAGES.native} does not load on this machine`, { cause });
    return engine('bcryptjs');
  }
}

function engine(name: BcryptEngine['name']): BcryptEngine {
  const module = require.resolve(PACKAGES[name]);
  const pool = new WorkerPool<Request, unknown>(WORKER, { name, module });
  const compare = async (...comparisons: Comparison[]) => (await pool.run({ comparisons })) as boolean[];
  return {
    name,
    hash: async (password, cost) => String(await pool.run({ hash: { password, cost } })),
    verify: async (password, hash) => (await compare({ password, hash }))[0] === true,
    verifyPair: async (first, second) => (await compare(first, second)) as [boolean, boolean],
    verifyForeign: async (password, hash) => (await pool.run({ foreign: { password, hash } })) === true,
    close: () => pool.close(),
  };
}
