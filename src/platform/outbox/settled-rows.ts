import type { Database } from '../database/database';
import { day } from '../database/old-rows';

/** Rows of an outbox that were sent or given up are kept for so long. */
export const settledSeconds = 30 * day;

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
  // Another process may have changed one of them since the SELECT, for example an administrator who retries a mail.
  return database.affected(`DELETE FROM ${table} WHERE id IN (${ids.map(() => '?').join(', ')}) AND ${which.where}`, [
    ...ids,
    ...which.values,
  ]);
}
