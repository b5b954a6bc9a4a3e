/** The part of the browser's `Storage` that the SDK uses. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** For tests, and for programs that need no storage. */
export function memoryStorage(): KeyValueStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/**
 * `localStorage` or `sessionStorage` of a page. Each call throws where there is no page, and in browsers that forbid
 * storage. A server can have a global `localStorage` (Node 22 with an option, Node 25), which all its users would share.
 */
export function browserStorage(name: 'localStorage' | 'sessionStorage'): KeyValueStorage {
  const page = globalThis as unknown as Partial<Record<'document' | typeof name, KeyValueStorage>>;
  const storage = (): KeyValueStorage => {
    if (page.document === undefined || page[name] === undefined) throw new Error(`there is no ${name}`);
    return page[name];
  };
  return {
    getItem: (key) => storage().getItem(key),
    setItem: (key, value) => storage().setItem(key, value),
    removeItem: (key) => storage().removeItem(key),
  };
}

/** One of the two storages of the page, which other origins cannot share. */
export function isBrowserStorage(storage: KeyValueStorage): boolean {
  const page = globalThis as { localStorage?: unknown; sessionStorage?: unknown };
  return storage === page.localStorage || storage === page.sessionStorage;
}

/**
 * Never throws. A value that the storage refuses, because the storage is full or forbidden, stays in memory. Such a
 * value lasts until the tab is reloaded, and other tabs do not see it.
 */
export class SafeStorage implements KeyValueStorage {
  private readonly kept = new Map<string, string>();

  constructor(private readonly storage: KeyValueStorage) {}

  getItem(key: string): string | null {
    try {
      return this.kept.get(key) ?? this.storage.getItem(key);
    } catch {
      return null;
    }
  }

  /** If the storage refuses the value, its former value is removed, so that a reload does not bring it back. */
  setItem(key: string, value: string): void {
    try {
      this.storage.setItem(key, value);
      this.kept.delete(key);
    } catch {
      this.removeItem(key);
      this.kept.set(key, value);
    }
  }

  removeItem(key: string): void {
    this.kept.delete(key);
    try {
      this.storage.removeItem(key);
    } catch {
      // A storage that cannot be changed contains no value of this SDK.
    }
  }

  /** True when the value exists in this tab only. */
  inMemory(key: string): boolean {
    return this.kept.has(key);
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

  write(value: T): void {
    this.storage.setItem(this.key, JSON.stringify(value));
  }

  remove(): void {
    this.storage.removeItem(this.key);
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
