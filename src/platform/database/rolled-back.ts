import type { Database, Transaction } from './database';

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
