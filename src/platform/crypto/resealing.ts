import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../database/database';
import { isSealed, type KeyRing } from './key-ring';

/** A column of sealed values that outlive a roll-out; names of the schema, never anything from outside. */
export interface SealedColumn {
  readonly table: string;
  /** What a row is found by: the one column of the primary key, or the one that is left when `only` holds. */
  readonly key: string;
  readonly column: string;
  /** That of `KeyRing.seal`. */
  readonly purpose: string;
  /** What else a row has to be. */
  readonly only?: string;
}

export interface Census {
  /** Sealed with a key of the list that is not the first. */
  readonly former: number;
  /** Sealed with none of them: lost, or the list lacks a key. */
  readonly unreadable: number;
}

interface SealedRow {
  readonly id: string;
  readonly sealed: string | null;
}

/** Rows that are read at once, and the most that one transaction holds: some milliseconds, after which others have a turn. */
export const batchRows = 500;
const unitRows = 100;
const pauseMs = 20;

/**
 * Seals the values of a column again that are not sealed with the first key. Any number of processes may do it at once, and
 * it may be cut off at any time: what has been done stays done, and the next run does the rest.
 * @returns how many values this call has sealed
 */
export async function resealColumn(database: Database, keys: KeyRing, sealed: SealedColumn): Promise<number> {
  let count = 0;
  for await (const rows of batches(database, sealed)) {
    const renewed = rows.flatMap((row) => renewedRow(keys, sealed.purpose, row));
    for (let at = 0; at < renewed.length; at += unitRows) {
      count += await replace(database, sealed, renewed.slice(at, at + unitRows));
    }
    if (renewed.length > 0) await pause(pauseMs);
  }
  return count;
}

/** Looks and changes nothing. `signal` ends it early, with what was found by then. */
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
  readonly after: string;
}

function renewedRow(keys: KeyRing, purpose: string, row: SealedRow): RenewedRow[] {
  const verdict = verdictOn(keys, purpose, row);
  return typeof verdict === 'string' ? [] : [{ id: row.id, before: row.sealed!, after: verdict.after }];
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

/** By the primary key, from where the last batch ended: each statement reads a bounded number of rows, without a lock. */
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
 * Racers: whoever writes the same value between the reading and this (an enrolment or its confirmation, `user reset-totp`,
 * `config set`, the sending of the mail, another resealing). Whoever commits first wins. When it is they, this finds another
 * value than it read, leaves it alone and does not count it: they have written with the first key. When it is this, they
 * lose nothing: `config set` and the rest overwrite without a condition, and those with one compare `identityOf`, which is
 * still the same. A second resealing finds the very text that it would write, since the nonce stays, and counts nothing.
 */
function replace(
  database: Database,
  { table, key, column, only = '1 = 1' }: SealedColumn,
  rows: readonly RenewedRow[],
): Promise<number> {
  const statement = `UPDATE ${table} SET ${column} = ? WHERE ${key} = ? AND ${column} = ? AND ${only}`;
  return database.transaction(async (tx) => {
    let won = 0;
    for (const { id, before, after } of rows) {
      if (await tx.won(statement, [after, id, before])) won++;
    }
    return won;
  });
}
