import type { DataSource, QueryRunner } from 'typeorm';
import { Gate } from './gate';

type RunnerClass = new (driver: unknown) => QueryRunner & { stmtCache: Map<string, unknown> };

/**
 * Gives each caller its own query runner, behind one lock. TypeORM shares one query runner of the SQLite connection
 * among all callers: parallel transactions then fail, and a single statement becomes part of another caller's
 * transaction and is rolled back with it (measured). A transaction holds the lock from BEGIN to its end, a single
 * statement while it runs.
 */
export function giveEachCallerItsOwnRunner(dataSource: DataSource): void {
  const driver = dataSource.driver as unknown as { createQueryRunner(mode: string): QueryRunner };
  const Shared = driver.createQueryRunner('master').constructor as RunnerClass;
  const gate = new Gate();
  const statements = new Map<string, unknown>();

  class GatedRunner extends Shared {
    private leave: (() => void) | undefined;

    constructor() {
      super(driver);
      this.stmtCache = statements;
    }

    override async startTransaction(): Promise<void> {
      if (this.leave !== undefined) return super.startTransaction();
      this.leave = await gate.enter();
      try {
        await super.startTransaction();
      } catch (error) {
        this.leaveGate();
        throw error;
      }
    }

    override async commitTransaction(): Promise<void> {
      await super.commitTransaction();
      if (!this.isTransactionActive) this.leaveGate();
    }

    override async rollbackTransaction(): Promise<void> {
      try {
        await super.rollbackTransaction();
      } finally {
        if (!this.isTransactionActive) this.leaveGate();
      }
    }

    override async query<T = unknown>(query: string, parameters?: unknown[], structured?: boolean): Promise<T> {
      // IMMEDIATE takes the write lock at once. A deferred transaction that reads first fails with SQLITE_BUSY at its
      // write.
      const text = query === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : query;
      const run = () => super.query(text, parameters, structured as true) as Promise<T>;
      if (this.leave !== undefined) return run();
      const leave = await gate.enter();
      try {
        return await run();
      } finally {
        leave();
      }
    }

    private leaveGate(): void {
      this.leave?.();
      this.leave = undefined;
    }
  }

  driver.createQueryRunner = () => new GatedRunner();
}
