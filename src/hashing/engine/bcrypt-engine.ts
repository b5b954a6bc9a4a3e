import { createRequire } from 'node:module';
import { join } from 'node:path';
import { WorkerPool } from './worker-pool';

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

export type EngineChoice = 'native' | 'bcryptjs' | 'auto';

/** What `hash-worker.js` understands: one hash to make, or one or two comparisons. */
type Request = { hash: { password: string; cost: number } } | { comparisons: Comparison[] };

const PACKAGES = { native: '@node-rs/bcrypt', bcryptjs: 'bcryptjs' } as const;
const WORKER = join(__dirname, 'hash-worker.js');

/**
 * Opens the asked library; `auto` takes the native one where its binary loads and bcryptjs where not.
 * @param load throws when the package cannot be used on this machine
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
    close: () => pool.close(),
  };
}
