import type { ClientClock } from './client-clock.js';
import { browserDatabases, inTransaction } from './databases.js';

/**
 * Remembers what has replaced a token pair, in a place that all tabs see at once.
 *
 * A browser can give a lock to the next tab before that tab sees what the former holder wrote to `localStorage`
 * (Chromium: 1 to 5 ms before). Such a tab would send a refresh token that is spent. A committed transaction of IndexedDB
 * is visible to every transaction that starts later, in every process. IndexedDB holds marks only and no token.
 */
export interface Successors {
  /** The mark of the pair that has replaced this one, or `ended`. Undefined: this pair is the newest. */
  of(access: string): Promise<string | undefined>;
  /**
   * Notes the successor of a pair that still has the successor `former`. Two tabs may do so at once; the first one wins.
   * @returns false if another tab was first
   */
  set(access: string, next: string, former?: string): Promise<boolean>;
}

/** The successor of a pair that no pair follows. */
export const ended = 'ended';

/** Where there is no IndexedDB, a tab believes what it sees in the storage. */
export const noSuccessors: Successors = {
  of: () => Promise.resolve(undefined),
  set: () => Promise.resolve(true),
};

/** Tells pairs apart, and says nothing about the token: 64 bits of a hash of more than a thousand bits. */
export function markOf(access: string): string {
  let one = 0x811c9dc5;
  let other = 0x41c6ce57;
  for (let i = 0; i < access.length; i++) {
    const unit = access.charCodeAt(i);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x5f356495);
  }
  return `${(one >>> 0).toString(36)}-${(other >>> 0).toString(36)}`;
}

type Table = readonly (readonly [mark: string, next: string])[];

/** Three tabs replace one pair at a time, so the marks of older pairs are of no use. */
const keptMarks = 20;
/** A database that does not answer must not hold up a request. */
const patienceMs = 2000;

export function successorsIn(databaseName: string, clock: ClientClock): Successors {
  const database = browserDatabases();
  if (database === undefined) return noSuccessors;
  /** Resolves to `otherwise` when the database is forbidden, broken or silent. */
  const guarded = <T>(edit: (table: Table) => readonly [T, Table?], otherwise: T): Promise<T> =>
    new Promise((resolve) => {
      const cancel = clock.after(patienceMs, () => resolve(otherwise));
      inTransaction(database, databaseName, (value) => edit(isTable(value) ? value : []))
        .catch(() => otherwise)
        .then(resolve, resolve)
        .finally(cancel);
    });
  const found = (table: Table, mark: string) => table.find(([one]) => one === mark)?.[1];
  return {
    of: (access) => guarded((table) => [found(table, markOf(access))], undefined),
    set: (access, next, former) =>
      guarded((table) => {
        const mark = markOf(access);
        if (found(table, mark) !== former) return [false];
        const others = table.filter(([one]) => one !== mark);
        return [true, [...others.slice(1 - keptMarks), [mark, next]]];
      }, true),
  };
}

function isTable(value: unknown): value is Table {
  return Array.isArray(value) && value.every((one) => Array.isArray(one) && one.length === 2);
}
