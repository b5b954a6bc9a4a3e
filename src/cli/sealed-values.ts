import { sealedRecordColumns } from '../applications/sealed-record-columns';
import { sealedProviderColumns } from '../identity-providers/provider-secrets';
import { sealedReceiverColumns } from '../events/event-receivers';
import { sealedMailColumns } from '../mail/sealed-mail-columns';
import { sealedTotpColumns } from '../mfa/sealed-totp-columns';
import type { KeyRing } from '../platform/crypto/key-ring';
import { type Census, censusOf, resealColumn, type SealedColumn } from '../platform/crypto/resealing';
import type { Database } from '../platform/database/database';

/** All columns with sealed values that outlive a roll-out. Others (codes, challenges, passes) expire within minutes. */
export const sealedColumns: readonly SealedColumn[] = [
  ...sealedTotpColumns,
  ...sealedMailColumns,
  ...sealedRecordColumns,
  ...sealedProviderColumns,
  ...sealedReceiverColumns,
];

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
