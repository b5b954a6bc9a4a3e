import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../database/database';
import { isSealed, type KeyRing } from './key-ring';

/**
 * A column of sealed values that outlive a roll-out. The names become part of SQL, so they are constants of the code.
 */
export interface SealedColumn {
  readonly table: string;
  /** The column that identifies a row: the primary key, or its other column if `only` fixes one of two. */
  readonly key: string;
  readonly column: string;
  /** The purpose that `KeyRing.seal` got. */
  readonly purpose: string;
  /** An additional condition for the rows. */
  readonly only?: string;
  /** Other columns of the row, with keyed hashes of what the value says. The first key makes them again. */
  readonly hashes?: (keys: KeyRing, plain: string) => Readonly<Record<string, string | null>>;
}

export interface Census {
  /** Values that are sealed with a key of the list, but not with the first one. */
  readonly former: number;
  /** Values that no key of the list opens: a key is missing, or the value is lost. */
  readonly unreadable: number;
}

interface SealedRow {
  readonly id: string;
  readonly sealed: string | null;
}

/** Rows of one SELECT. */
export const batchRows = 500;
/** Rows of one transaction, which holds their locks for a few milliseconds. */
const unitRows = 100;
const pauseMs = 20;

/**
 * Seals each value of a column again that is not sealed with the first key. Several processes may run this at the same
 * time. It may be killed at any time: committed values stay, and the next run does the rest.
 * @returns how many values this call has sealed
 */
export async function resealColumn(database: Database, keys: KeyRing, sealed: SealedColumn): Promise<number> {
  let count = 0;
  for await (const rows of batches(database, sealed)) {
    const renewed = rows.flatMap((row) => renewedRow(keys, sealed, row));
    for (let at = 0; at < renewed.length; at += unitRows) {
      count += await replace(database, sealed, renewed.slice(at, at + unitRows));
    }
    if (renewed.length > 0) await pause(pauseMs);
  }
  return count;
}

/** Counts without changing anything. When `signal` aborts, the function stops and returns the counts so far. */
export async function censusOf(
  database: Database,
  keys: KeyRing,
  sealed: SealedColumn,
  signal?: AbortSignal,
): Promise<Census> {
  const census = { former: 0, unreadable: 0 };
  for await (const rows of batches(database, sealed)) {
    for (const row of rows) {
      const verdict = verdictOn(keys, sealed.purpose, row);
      if (verdict === 'unreadable') census.unreadable++;
      else if (verdict !== 'current') census.former++;
    }
    if (signal?.aborted) break;
  }
  return census;
}

interface RenewedRow {
  readonly id: string;
  readonly before: string;
  /** The columns that the UPDATE sets. */
  readonly after: Readonly<Record<string, string | null>>;
}

function renewedRow(keys: KeyRing, { column, purpose, hashes }: SealedColumn, row: SealedRow): RenewedRow[] {
  const verdict = verdictOn(keys, purpose, row);
  if (typeof verdict === 'string') return [];
  const { after } = verdict;
  return [
    { id: row.id, before: row.sealed!, after: { [column]: after, ...hashes?.(keys, keys.open(purpose, after)) } },
  ];
}

function verdictOn(
  keys: KeyRing,
  purpose: string,
  { sealed }: SealedRow,
): 'current' | 'unreadable' | { after: string } {
  if (sealed === null || !isSealed(sealed)) return 'current';
  try {
    const after = keys.reseal(purpose, sealed);
    return after === sealed ? 'current' : { after };
  } catch {
    return 'unreadable';
  }
}

/**
 * Reads in the order of the primary key, from the end of the last batch. Each statement reads a bounded number of rows
 * without a lock.
 */
async function* batches(database: Database, { table, key, column, only = '1 = 1' }: SealedColumn) {
  for (let last = ''; ;) {
    const rows = await database.rows<SealedRow>(
      `SELECT ${key} AS id, ${column} AS sealed FROM ${table} WHERE ${key} > ? AND ${only} ORDER BY ${key} LIMIT ${batchRows}`,
      [last],
    );
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) return;
    last = rows.at(-1)!.id;
  }
}

/**
 * Race: another writer changes the same value after it was read (an enrolment or its confirmation, `user reset-totp`,
 * `config set`, the sending of the mail, another resealing). The first commit wins.
 * - If the other write wins, this UPDATE matches no row and counts nothing: that write used the first key.
 * - If this UPDATE wins, the other writer loses nothing: it overwrites without a condition, or its condition compares
 *   `identityOf`, which resealing does not change.
 * - A second resealing finds the text that it would write, and counts nothing.
 */
function replace(
  database: Database,
  { table, key, column, only = '1 = 1' }: SealedColumn,
  rows: readonly RenewedRow[],
): Promise<number> {
  return database.transaction(async (tx) => {
    let won = 0;
    for (const { id, before, after } of rows) {
      const set = Object.keys(after).map((name) => `${name} = ?`);
      const statement = `UPDATE ${table} SET ${set.join(', ')} WHERE ${key} = ? AND ${column} = ? AND ${only}`;
      if (await tx.won(statement, [...Object.values(after), id, before])) won++;
    }
    return won;
  });
}
