import { AsyncLocalStorage } from 'node:async_hooks';
import type { DataSource, QueryRunner } from 'typeorm';
import { mysqlDriver } from '../../src/platform/database/mysql-pool';
import { OutboxWorker } from '../../src/platform/outbox/outbox-worker';

/** Counts the SQL statements of one call, without those that the workers for mails and events send at the same time. */
export function countStatements(dataSource: DataSource): (run: () => Promise<unknown>) => Promise<number> {
  const statements = listStatements(dataSource);
  return async (run) => (await statements(run)).length;
}

/** Like `countStatements`, and returns the first word of each statement, in their order: `SELECT`, `UPDATE`, `COMMIT`. */
export function listStatements(dataSource: DataSource): (run: () => Promise<unknown>) => Promise<string[]> {
  // The timer of a nudge belongs to the call. It ends before a call that is slow, and its statements would be counted.
  jest.spyOn(OutboxWorker.prototype, 'nudge').mockImplementation(() => undefined);
  const calls = new AsyncLocalStorage<string[]>();
  const note = ([statement]: unknown[]) => {
    const sql = typeof statement === 'string' ? statement : (statement as { sql: string }).sql;
    calls.getStore()?.push(sql.trim().split(/\s/, 1)[0]!.toUpperCase());
  };
  if (dataSource.options.type === 'mysql') {
    const driver = mysqlDriver(dataSource);
    const obtain = driver.obtainMasterConnection.bind(driver);
    const known = new WeakSet<object>();
    driver.obtainMasterConnection = async () => {
      const connection = await obtain();
      if (!known.has(connection)) {
        known.add(connection);
        for (const verb of ['query', 'execute'] as const) {
          const original = connection[verb].bind(connection) as (...given: unknown[]) => unknown;
          connection[verb] = ((...given: unknown[]) => {
            note(given);
            return original(...given);
          }) as never;
        }
      }
      return connection;
    };
  } else {
    const driver = dataSource.driver as unknown as { createQueryRunner(mode: string): QueryRunner };
    const create = driver.createQueryRunner.bind(driver);
    driver.createQueryRunner = (mode) => {
      const runner = create(mode);
      const query = runner.query.bind(runner) as (...given: unknown[]) => Promise<unknown>;
      runner.query = ((...given: unknown[]) => {
        note(given);
        return query(...given);
      }) as never;
      return runner;
    };
  }
  return async (run) => {
    const statements: string[] = [];
    await calls.run(statements, run);
    return statements;
  };
}
