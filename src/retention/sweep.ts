import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from '../platform/database/database';
import type { OldRows } from '../platform/database/old-rows';
import { timeOf } from '../platform/database/sql';

/** The rows of a rule, and what is done before a batch of them is deleted. */
export interface SweptRows extends Omit<OldRows, 'seconds'> {
  /** Called with the keys of each batch. */
  readonly before?: (keys: readonly string[]) => Promise<void>;
}

/** The most rows of one DELETE, which takes some milliseconds. Other statements run between two batches. */
export const batchRows = 1000;
const pauseMs = 20;
const beforeEverything = new Date('1970-01-02T00:00:00Z');

/**
 * Deletes the rows whose time is not after `until`, in batches that each commit alone.
 *
 * The keys are read first, without a lock, and deleted by primary key. A DELETE by time would lock the index range that
 * it scans, and with it the gap into which logins insert. Races with a login that renews a row between the two
 * statements (a new pending login replaces the old one), and with a second purge. The DELETE repeats the condition on
 * the age, so a renewed row stays. The second purge finds nothing left to delete.
 */
export async function removeOldRows(database: Database, rows: SweptRows, until: Date): Promise<number> {
  const { table, key, time, only = '1 = 1' } = rows;
  let removed = 0;
  // Continues where the last batch ended: the start of the index still holds the delete marks of that batch.
  let from = beforeEverything;
  for (;;) {
    const found = await database.rows<{ id: string | number; time: unknown }>(
      `SELECT ${key} AS id, ${time} AS time FROM ${table}
       WHERE ${time} >= ? AND ${time} <= ? AND ${only} ORDER BY ${time} LIMIT ${batchRows}`,
      [from, until],
    );
    const last = found.at(-1);
    if (last === undefined) return removed;
    await rows.before?.(found.map(({ id }) => String(id)));
    removed += await database.affected(
      `DELETE FROM ${table} WHERE ${key} IN (${found.map(() => '?').join(', ')}) AND ${time} <= ? AND ${only}`,
      [...found.map(({ id }) => id), until],
    );
    if (found.length < batchRows) return removed;
    from = timeOf(last.time);
    await pause(pauseMs);
  }
}

/** Repeats a purge method of another module until it deletes less than a full batch. */
export async function inBatches(removeBatch: () => Promise<number>): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await removeBatch();
    removed += batch;
    if (batch < batchRows) return removed;
    await pause(pauseMs);
  }
}
