import type { ClientClock } from './client-clock.js';
import { browserDatabases, inTransaction } from './databases.js';
import type { KeyProblem } from './failures.js';
import { isBrowserStorage, type KeyValueStorage } from './storage.js';

/** A pair for ES256 (ECDSA with P-256), as `crypto.subtle.generateKey` makes it. */
export interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** Keeps the key that the tokens of a session are bound to. It lives at least as long as the `storage` of the tokens. */
export interface KeyStore {
  /** The same pair for all objects that share a `storage`. A rejection fails the request that needs the key. */
  pair(): Promise<KeyPair>;
}

/** The key of this program, or the reason why it has none. With `optional`, a key that cannot be stored is none. */
export type Keys = (KeyStore & { readonly optional?: true }) | KeyProblem;

/**
 * Where the key is kept: in IndexedDB beside the tokens of a page, and in memory beside tokens in memory. A `storage` of the
 * caller may outlive the key, or be shared with another origin, so its tokens are bound only with a `keyStore`.
 */
export function keysFor(
  { keyStore, storage }: { readonly keyStore?: KeyStore | null; readonly storage?: KeyValueStorage },
  databaseName: string,
  clock: ClientClock,
): Keys {
  if (keyStore !== undefined) return keyStore ?? 'no-store';
  if ((globalThis.crypto as Crypto | undefined)?.subtle === undefined) return 'no-crypto';
  const isPage = (globalThis as { document?: unknown }).document !== undefined;
  if (!isPage) return storage === undefined ? memoryKeys() : 'no-store';
  if (storage !== undefined && !isBrowserStorage(storage)) return 'no-store';
  const databases = browserDatabases();
  return databases === undefined ? 'no-storage' : browserKeys(databases, databaseName, clock);
}

/** For programs that keep their tokens in memory. */
function memoryKeys(): KeyStore {
  let made: Promise<KeyPair> | undefined;
  return { pair: () => (made ??= newPair()) };
}

/** A database that does not answer must not hold up a sign-in for ever. */
const patienceMs = 10_000;

/** A key of IndexedDB, which all tabs use. Two tabs may make one at the same time; the one that is stored first wins. */
function browserKeys(databases: IDBFactory, name: string, clock: ClientClock): Keys {
  const read = () => inTransaction(databases, name, (value) => [isPair(value) ? value : undefined]);
  const keep = (made: KeyPair) =>
    inTransaction<KeyPair>(databases, name, (value) => (isPair(value) ? [value] : [made, made]));
  const stored = async () => (await read()) ?? keep(await newPair());
  return {
    optional: true,
    pair: () =>
      new Promise((resolve, reject) => {
        const cancel = clock.after(patienceMs, () => reject(new Error('IndexedDB does not answer')));
        stored().then(resolve, reject).finally(cancel);
      }),
  };
}

/** Nobody can read the private key, and no script can: it only signs. */
function newPair(): Promise<KeyPair> {
  return crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
}

function isPair(value: unknown): value is KeyPair {
  const { privateKey, publicKey } = (value ?? {}) as Partial<KeyPair>;
  return privateKey instanceof CryptoKey && publicKey instanceof CryptoKey;
}
