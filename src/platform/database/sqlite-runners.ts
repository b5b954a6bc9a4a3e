import type { DataSource, QueryRunner } from 'typeorm';

type RunnerClass = new (driver: unknown) => QueryRunner & { stmtCache: Map<string, unknown> };

/**
 * Gives each caller its own query runner, behind one lock. TypeORM shares one query runner of the SQLite connection
 * among all callers: parallel transactions then fail, and a single statement becomes part of another caller's
 * transaction and is rolled back with it. A transaction holds the lock from BEGIN to COMMIT or ROLLBACK, and a single
 * statement holds it while it runs.
 * @param failed is called with the error of each statement that fails
 */
export function giveEachCallerItsOwnRunner(dataSource: DataSource, failed?: (error: unknown) => void): void {
  const driver = dataSource.driver as unknown as { createQueryRunner(mode: string): QueryRunner };
  const Shared = driver.createQueryRunner('master').constructor as RunnerClass;
  const connection = new Mutex();
  const statements = new Map<string, unknown>();

  class LockingRunner extends Shared {
    private unlock: (() => void) | undefined;

    constructor() {
      super(driver);
      this.stmtCache = statements;
    }

    override async startTransaction(): Promise<void> {
      if (this.unlock !== undefined) return super.startTransaction();
      this.unlock = await connection.lock();
      try {
        await super.startTransaction();
      } catch (error) {
        this.releaseConnection();
        throw error;
      }
    }

    override async commitTransaction(): Promise<void> {
      await super.commitTransaction();
      if (!this.isTransactionActive) this.releaseConnection();
    }

    override async rollbackTransaction(): Promise<void> {
      try {
        await super.rollbackTransaction();
      } catch (error) {
        // A full disk has ended the transaction already. Without this, no other caller would get the connection again.
        if (!/no transaction is active/.test((error as Error).message)) throw error;
        Object.assign(this, { isTransactionActive: false, transactionDepth: 0 });
      } finally {
        if (!this.isTransactionActive) this.releaseConnection();
      }
    }

    override async query<T = unknown>(query: string, parameters?: unknown[], structured?: boolean): Promise<T> {
      // IMMEDIATE takes the write lock at once. A deferred transaction that reads first fails with SQLITE_BUSY when it
      // writes.
      const text = query === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : query;
      const run = () =>
        (super.query(text, parameters, structured as true) as Promise<T>).catch((error: unknown) => {
          failed?.(error);
          throw error;
        });
      if (this.unlock !== undefined) return run();
      const unlock = await connection.lock();
      try {
        return await run();
      } finally {
        unlock();
      }
    }

    private releaseConnection(): void {
      this.unlock?.();
      this.unlock = undefined;
    }
  }

  driver.createQueryRunner = () => new LockingRunner();
}

/**
 * Callers get the one SQLite connection in the order of their calls, and keep it until they call the returned function.
 */
class Mutex {
  private last: Promise<void> = Promise.resolve();

  async lock(): Promise<() => void> {
    const before = this.last;
    let unlock!: () => void;
    this.last = new Promise((resolve) => (unlock = resolve));
    await before;
    return unlock;
  }
}
