/** The databases of a page. A page in a sandbox may not even read the property. */
export function browserDatabases(): IDBFactory | undefined {
  try {
    return (globalThis as { indexedDB?: IDBFactory }).indexedDB ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * Edits the one value of a database. Transactions that write run one after the other, over all tabs.
 * A connection for each transaction: an open one would keep the page out of the browser's back-forward cache.
 * @param edit returns the result, and the new value unless the value stays
 */
export async function inTransaction<T>(
  databases: IDBFactory,
  name: string,
  edit: (value: unknown) => readonly [T, unknown?],
): Promise<T> {
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const request = databases.open(name, 1);
    request.onupgradeneeded = () => void request.result.createObjectStore(name);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(name, 'readwrite');
      const store = transaction.objectStore(name);
      const request = store.get(name);
      let result: T;
      request.onsuccess = () => {
        try {
          const [made, value] = edit(request.result);
          result = made;
          if (value !== undefined) store.put(value, name);
        } catch (error) {
          // A browser can refuse to store a value of this kind.
          reject(error);
          transaction.abort();
        }
      };
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(transaction.error!);
    });
  } finally {
    database.close();
  }
}
