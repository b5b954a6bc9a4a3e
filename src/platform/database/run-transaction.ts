import type { DataSource, QueryRunner } from 'typeorm';
import type { DatabaseWaits } from './database-waits';
import { canBeReleased } from './mysql-session';
import { repeated } from './repeated';
import { abandonedCode, isRepeatable, isStoreFailure, storeCode, storeUnavailable } from './store-failure';

/**
 * Runs the work in one transaction, and again after a deadlock or a lost certification. The hooks of `afterCommit` run
 * after the commit. An error of COMMIT is thrown like any other, although the server may have committed: the hooks then do
 * not run.
 */
export async function runTransaction<T, Tx extends { committed(): void }>(
  dataSource: DataSource,
  waits: DatabaseWaits,
  open: (runner: QueryRunner) => Tx,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return repeated(async () => {
    assertConnected(dataSource);
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const tx = open(runner);
      const result = await work(tx);
      await runner.commitTransaction();
      tx.committed();
      return result;
    } catch (error) {
      await rollBack(runner, error);
      throw asDomainError(error);
    } finally {
      if (!runner.isReleased) await runner.release();
    }
  }, waits);
}

/** If ROLLBACK fails too, the connection is destroyed, and the server rolls the transaction back. */
async function rollBack(runner: QueryRunner, error: unknown): Promise<void> {
  if (!runner.isTransactionActive) return;
  // The server still runs the statement. `boundStatements` rolls back when the late answer has come.
  if (storeCode(error) === abandonedCode) return;
  try {
    if (isStoreFailure(error) && !canBeReleased(error) && !isRepeatable(error)) throw error;
    await runner.rollbackTransaction();
  } catch {
    const connection = (await runner.connect().catch(() => undefined)) as { destroy?: () => void } | undefined;
    if (connection?.destroy === undefined) await runner.rollbackTransaction().catch(() => undefined);
    else connection.destroy();
  }
}

export function assertConnected(dataSource: DataSource): void {
  if (!dataSource.isInitialized) throw storeUnavailable(new Error('the database is not connected'));
}

export function asDomainError(error: unknown): unknown {
  return isStoreFailure(error) ? storeUnavailable(error) : error;
}
