import type { Clock } from '../../shared/clock';
import type { Database } from '../database/database';
import { timeOrNull } from '../database/sql';

export interface OutboxFigures {
  readonly waiting: number;
  /** 0 when nothing waits. */
  readonly oldestWaitingSeconds: number;
  /** Rows that were given up and are not purged yet. */
  readonly dead: number;
}

/** Counts the rows of a table of messages with the columns `status` and `created_at`. */
export async function outboxFigures(
  database: Database,
  clock: Clock,
  table: string,
  status: { readonly waiting: number; readonly dead: number },
): Promise<OutboxFigures> {
  const rows = await database.rows<{ status: number; count: number; oldest: unknown }>(
    `SELECT status, COUNT(*) AS count, MIN(created_at) AS oldest FROM ${table} WHERE status IN (?, ?) GROUP BY status`,
    [status.waiting, status.dead],
  );
  const waiting = rows.find((row) => row.status === status.waiting);
  const oldest = timeOrNull(waiting?.oldest);
  const age = oldest === null ? 0 : (clock.now().getTime() - oldest.getTime()) / 1000;
  return {
    waiting: Number(waiting?.count ?? 0),
    oldestWaitingSeconds: Math.max(0, age),
    dead: Number(rows.find((row) => row.status === status.dead)?.count ?? 0),
  };
}

/**
 * Deletes one batch of rows, found by the SQL condition `which` and deleted by their primary key `id`.
 * @returns the number of deleted rows; fewer than `limit` when none are left
 */
export async function deleteBatch(
  database: Database,
  table: string,
  which: { readonly where: string; readonly values: readonly (Date | number)[] },
  limit: number,
): Promise<number> {
  const rows = await database.rows<{ id: string | number }>(
    `SELECT id FROM ${table} WHERE ${which.where} ORDER BY created_at LIMIT ${Math.trunc(limit)}`,
    which.values,
  );
  if (rows.length === 0) return 0;
  const ids = rows.map((row) => row.id);
  return database.affected(`DELETE FROM ${table} WHERE id IN (${ids.map(() => '?').join(', ')})`, ids);
}
