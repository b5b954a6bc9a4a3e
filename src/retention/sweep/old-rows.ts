import { setTimeout as pause } from 'node:timers/promises';
import { Database } from '../../platform/database/database';
import { timeOf } from '../../platform/database/sql';

/** Where old rows are found and by what they are removed; column names, never anything from outside. */
export interface OldRows {
  readonly table: string;
  /** One column that the primary key starts with. */
  readonly key: string;
  /** An indexed time: what is found by it is found without a scan. */
  readonly time: string;
  /** What else a row has to be. */
  readonly only?: string;
}

/** Rows that one statement removes: some milliseconds of work, after which everybody else has a turn. */
export const batchRows = 1000;
const pauseMs = 20;
const beforeEverything = new Date('1970-01-02T00:00:00Z');

/**
 * Removes the rows whose time is not after `until`, in batches that each commit by themselves (decisions.md 10).
 *
 * The keys are read first, without a lock, and removed by the primary key: a DELETE by the time would lock what it scans,
 * and with it the gap into which logins insert. Racers: whoever renews a row between the two statements (a new pending
 * login takes the place of the old), so the DELETE states the age again and leaves that row alone; and a second purge,
 * which finds nothing left to remove.
 */
export async function removeOldRows(database: Database, rows: OldRows, until: Date): Promise<number> {
  const { table, key, time, only = '1 = 1' } = rows;
  let removed = 0;
  // From where the last batch ended: at the start of the index lie the marks of what was just removed.
  let from = beforeEverything;
  for (;;) {
    const found = await database.rows<{ id: string | number; time: unknown }>(
      `SELECT ${key} AS id, ${time} AS time FROM ${table}
       WHERE ${time} >= ? AND ${time} <= ? AND ${only} ORDER BY ${time} LIMIT ${batchRows}`,
      [from, until],
    );
    const last = found.at(-1);
    if (last === undefined) return removed;
    removed += await database.affected(
      `DELETE FROM ${table} WHERE ${key} IN (${found.map(() => '?').join(', ')}) AND ${time} <= ? AND ${only}`,
      [...found.map(({ id }) => id), until],
    );
    if (found.length < batchRows) return removed;
    from = timeOf(last.time);
    await pause(pauseMs);
  }
}

/** The same for a door that removes one batch of its own table: until it finds less than a batch. */
export async function inBatches(removeBatch: () => Promise<number>): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await removeBatch();
    removed += batch;
    if (batch < batchRows) return removed;
    await pause(pauseMs);
  }
}
