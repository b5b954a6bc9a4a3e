import type { DataSource, QueryRunner } from 'typeorm';
import { Gate } from './gate';

type RunnerClass = new (driver: unknown) => QueryRunner & { stmtCache: Map<string, unknown> };

/**
 * TypeORM hands the same query runner to everybody on the one SQLite connection: parallel transactions then fail, and a
 * single statement lands inside a neighbour's transaction and is rolled back with it (measured). Here every caller gets
 * a runner of its own behind one gate: a transaction holds it from BEGIN to its end, a statement for itself.
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
      // Taking the write lock at once: a deferred BEGIN that reads first fails with SQLITE_BUSY when it comes to write.
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
