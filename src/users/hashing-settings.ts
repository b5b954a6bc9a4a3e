import { defaultHashThreads } from '../hashing/processors';
import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class HashingSettings {
  abstract readonly cost: number;
  abstract readonly threads: number;
  /** Whether one thread compares two waiting passwords at the same time (ADR 0016). */
  abstract readonly pairs: boolean;
  abstract readonly queueLimit: number;
  abstract readonly queueMaxWaitMs: number;
}

export function readHashingSettings(env: SettingsReader, production: boolean): HashingSettings {
  const cost = env.count('BCRYPT_COST', 12, { min: production ? 10 : 4, max: 14 });
  return {
    cost,
    threads: env.count('HASH_THREADS', defaultHashThreads(), { max: 256 }),
    pairs: env.choice('HASH_PAIRS', ['on', 'off'], 'on') === 'on',
    queueLimit: env.count('HASH_QUEUE_LIMIT', 1000),
    queueMaxWaitMs: env.count('HASH_QUEUE_MAX_WAIT_MS', queueMaxWaitMs(cost)),
  };
}

/**
 * A longer hash needs a longer queue to keep all threads busy, but nobody wants to wait sixteen times as long for it: the
 * wait grows with the root of the work. 1000 at cost 10, 2000 at cost 12, 4000 at cost 14.
 */
function queueMaxWaitMs(cost: number): number {
  return Math.max(1000, Math.round(2000 * 2 ** ((cost - 12) / 2)));
}
