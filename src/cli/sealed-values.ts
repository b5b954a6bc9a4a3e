import { sealedColumns } from '../health/sealed-columns';
import type { KeyRing } from '../platform/crypto/key-ring';
import { type Census, censusOf, resealColumn } from '../platform/crypto/resealing';
import type { Database } from '../platform/database/database';

/** @returns how many values of each column were sealed again */
export async function resealAll(database: Database, keys: KeyRing): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const column of sealedColumns) {
    const name = `${column.table}.${column.column}`;
    // Two kinds of mails are sealed in one column for two purposes.
    counts[name] = (counts[name] ?? 0) + (await resealColumn(database, keys, column));
  }
  return counts;
}

export async function censusOfAll(database: Database, keys: KeyRing, signal?: AbortSignal): Promise<Census> {
  const total = { former: 0, unreadable: 0 };
  for (const column of sealedColumns) {
    const { former, unreadable } = await censusOf(database, keys, column, signal);
    total.former += former;
    total.unreadable += unreadable;
    if (signal?.aborted) break;
  }
  return total;
}
