/** The part of the browser's `Storage` that the SDK uses. */
export type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'clear'>;

/** For Node, and for browsers that forbid storage. A reload loses its content. */
export function memoryStorage(): KeyValueStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
  };
}

/** `localStorage` or `sessionStorage`. Falls back to memory, because some browsers throw on any access to them. */
export function browserStorage(name: 'localStorage' | 'sessionStorage'): KeyValueStorage {
  try {
    const storage = (globalThis as Partial<Record<typeof name, Storage>>)[name];
    if (storage === undefined) return memoryStorage();
    const probe = 'portal-auth.probe';
    storage.setItem(probe, '1');
    storage.removeItem(probe);
    return storage;
  } catch {
    return memoryStorage();
  }
}

/** One JSON value under one key. A value of another shape (an older version, a manual change) counts as absent. */
export class Slot<T> {
  constructor(
    private readonly storage: KeyValueStorage,
    readonly key: string,
    private readonly fits: (value: unknown) => value is T,
  ) {}

  read(): T | undefined {
    try {
      const value: unknown = JSON.parse(this.storage.getItem(this.key) ?? 'null');
      return this.fits(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }

  /** When the storage is full, the key is removed, so that no outdated value remains. */
  write(value: T): void {
    try {
      this.storage.setItem(this.key, JSON.stringify(value));
    } catch {
      this.remove();
    }
  }

  remove(): void {
    this.storage.removeItem(this.key);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
