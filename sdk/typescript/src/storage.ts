/** What is used of the browser's `Storage`. */
export type KeyValueStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'clear'>;

/** Keeps nothing over a reload: for Node, and for browsers whose user forbids storage. */
export function memoryStorage(): KeyValueStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
  };
}

/** `localStorage` or `sessionStorage`, or memory where merely touching them throws. */
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

/** One value as JSON under one key. What does not look like ours, after an update or by somebody's hand, counts as absent. */
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

  /** A full storage loses the reload, not the page that is open. */
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
