import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { open, seal } from './seal';
import { settings } from './settings';

/** What the server keeps for a browser. */
export type Session =
  | { readonly kind: 'code'; readonly uid: string; readonly type: string; readonly mfaToken: string | null }
  | { readonly kind: 'signed-in'; readonly access: string; readonly refresh: string };

/** What all replicas share. Another store needs a lock that ends by itself. */
export interface SessionStore {
  read(id: string): Promise<Session | undefined>;
  create(id: string, session: Session): Promise<void>;
  /** Does nothing to a session that has been removed meanwhile. */
  replace(id: string, session: Session): Promise<void>;
  remove(id: string): Promise<void>;
  /** Undefined: somebody else has the lock. @returns what gives it back */
  lock(id: string, ms: number): Promise<(() => Promise<void>) | undefined>;
}

/** As REFRESH_TOKEN_TTL_SECONDS of the service. */
const lifeSeconds = 7 * 24 * 3600;

const unlock = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;

/** A copy of this Redis is of no use: keys are hashes of the ids, and values are sealed. */
export class RedisSessions implements SessionStore {
  constructor(private readonly redis: Redis) {}

  async read(id: string): Promise<Session | undefined> {
    const sealed = await this.redis.get(keyOf(id));
    const text = sealed === null ? undefined : open(sealed, keyOf(id));
    return text === undefined ? undefined : (JSON.parse(text) as Session);
  }

  async create(id: string, session: Session): Promise<void> {
    await this.redis.set(keyOf(id), seal(JSON.stringify(session), keyOf(id)), 'EX', lifeSeconds);
  }

  async replace(id: string, session: Session): Promise<void> {
    await this.redis.call('SET', keyOf(id), seal(JSON.stringify(session), keyOf(id)), 'XX', 'KEEPTTL');
  }

  async remove(id: string): Promise<void> {
    await this.redis.del(keyOf(id));
  }

  async lock(id: string, ms: number): Promise<(() => Promise<void>) | undefined> {
    const [key, owner] = [`${keyOf(id)}:lock`, randomUUID()];
    if ((await this.redis.set(key, owner, 'PX', ms, 'NX')) === null) return undefined;
    return async () => void (await this.redis.eval(unlock, 1, key, owner));
  }
}

const keyOf = (id: string): string => `next-page:${createHash('sha256').update(id).digest('hex')}`;

/** One connection, also when Next loads this file anew during development. */
const shared = globalThis as { sessions?: SessionStore };

export const sessions = (): SessionStore =>
  (shared.sessions ??= new RedisSessions(new Redis(settings.redisUrl(), { maxRetriesPerRequest: 2 })));
