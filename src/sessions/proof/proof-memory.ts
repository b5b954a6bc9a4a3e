import type { FactoryProvider } from '@nestjs/common';
import { Database } from '../../platform/database/database';
import { Clock } from '../../shared/clock';
import { Random } from '../../shared/random';
import { TokenBindingSettings } from '../token-binding-settings';
import { OwnUsedProofs } from './own-used-proofs';
import { RedisUsedProofs } from './redis-used-proofs';
import { StoredUsedProofs } from './stored-used-proofs';
import { UsedProofs } from './used-proofs';

/** The memory that all replicas share: Redis, or else the database. A database in a file serves one process. */
export const proofMemory: FactoryProvider<UsedProofs> = {
  provide: UsedProofs,
  inject: [TokenBindingSettings, Database, Random, Clock],
  useFactory: async (settings: TokenBindingSettings, database: Database, random: Random, clock: Clock) => {
    const { binding, proofsRedisUrl, singleProcess } = settings;
    // With `off` no proof is used.
    if (binding === 'off') return new OwnUsedProofs(clock);
    if (proofsRedisUrl !== undefined) return RedisUsedProofs.open(proofsRedisUrl, clock);
    return singleProcess ? new OwnUsedProofs(clock) : new StoredUsedProofs(database, random, clock);
  },
};
