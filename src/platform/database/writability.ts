import type { DataSource } from 'typeorm';
import type { Database, Transaction } from './database';
import { isReadOnly } from './store-reason';

/**
 * Checks whether a login could be written now. The check is cheap enough for readiness. It reads the variables, because
 * an account with administrative rights can still write to a demoted primary. It also tries a write that matches no
 * row, because the account may lack the right to write. `super_read_only` of MySQL implies `read_only`. The read
 * replicas of some clusters set only `innodb_read_only`.
 * @throws DomainError COMMON_503001 if the database does not answer, or the account lacks the privilege to write
 */
export async function takesWrites(database: Database, dataSource: DataSource): Promise<boolean> {
  if (dataSource.options.type !== 'mysql') return true;
  const row = await database.row<Record<string, string | number | null>>(
    'SELECT @@global.read_only AS server, @@global.innodb_read_only AS engine',
  );
  // MariaDB 12 returns names instead of numbers.
  if (Object.values(row ?? {}).some((value) => value !== null && !['0', 'OFF'].includes(String(value)))) return false;
  try {
    await database.affected("UPDATE cooldowns SET until = until WHERE subject = '' AND kind = ''");
    return true;
  } catch (error) {
    if (error instanceof Error && isReadOnly(error.cause)) return false;
    throw error;
  }
}

/** Inserts and deletes a row, for a check of the right to do so. The caller rolls back. @param subject names the row */
export async function rehearseRow(tx: Transaction, subject: string): Promise<void> {
  await tx.affected('INSERT INTO cooldowns (subject, kind, until) VALUES (?, ?, ?)', [subject, 'doctor', new Date(0)]);
  await tx.affected('DELETE FROM cooldowns WHERE subject = ?', [subject]);
}

class RolledBack extends Error {}

/** Runs the work in a transaction and rolls it back. @throws what the work throws */
export async function rolledBack(database: Database, work: (tx: Transaction) => Promise<unknown>): Promise<void> {
  const run = database.transaction(async (tx) => {
    await work(tx);
    throw new RolledBack();
  });
  await run.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
}
