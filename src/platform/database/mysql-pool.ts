import type { PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';

/** Milliseconds that a caller waits for a free connection, and a statement for its answer; together under 5 s (T233). */
export const acquireTimeoutMs = 2400;
export const statementTimeoutMs = 2400;

export interface PoolCounts {
  readonly open: number;
  readonly idle: number;
  /** Callers without a connection. */
  readonly waiting: number;
}

interface Counted {
  readonly length: number;
}

interface MysqlDriver {
  pool?: {
    // The pool tells its sizes in no other way; all three are optional so that a change of the driver costs a metric only.
    readonly _allConnections?: Counted;
    readonly _freeConnections?: Counted;
    readonly _connectionQueue?: Counted;
  };
  obtainMasterConnection(): Promise<PoolConnection>;
}

export const mysqlDriver = (dataSource: DataSource): MysqlDriver => dataSource.driver;

/**
 * mysql2's pool waits for ever for a free connection; here it is a bounded wait, for TypeORM's repositories too. READ
 * COMMITTED, because the guarded writes need no gap locks, and gap locks are what makes racers deadlock.
 */
export function boundThePool(dataSource: DataSource): void {
  const driver = mysqlDriver(dataSource);
  const obtain = driver.obtainMasterConnection.bind(driver);
  // When a connection is handed out, not when it is made: the first one was made before anybody could listen.
  const prepared = new WeakSet<PoolConnection>();
  const prepare = async (connection: PoolConnection) => {
    await Promise.all([
      run(connection, 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'),
      run(connection, `SET SESSION time_zone = '+00:00'`),
    ]);
    destroyAfterTimeout(connection);
    prepared.add(connection);
  };

  driver.obtainMasterConnection = async () => {
    const wait: { over: boolean; connection?: PoolConnection } = { over: false };
    const handedOut = obtain().then((connection) => {
      if (wait.over) return connection.release();
      wait.connection = connection;
      return prepared.has(connection) ? undefined : prepare(connection);
    });
    try {
      await within(acquireTimeoutMs, handedOut, 'no database connection became free in time');
      return wait.connection as PoolConnection;
    } catch (error) {
      wait.over = true;
      // It was there and did not take its settings: of no use to anybody.
      wait.connection?.destroy();
      throw error;
    }
  };
}

/** @throws an error with the code ETIMEDOUT, a failure of the store, when `work` takes longer. */
export function within<T>(milliseconds: number, work: Promise<T>, what: string): Promise<T> {
  // By hand: twice for each statement, Promise.race and its promises were seen in the profile.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(Object.assign(new Error(what), { code: 'ETIMEDOUT' })), milliseconds);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/**
 * TypeORM gives a connection whose statement timed out back to the pool, and the next caller would wait behind that
 * statement: here it is destroyed first, as in `Database`.
 */
function destroyAfterTimeout(connection: PoolConnection): void {
  const query = connection.query.bind(connection) as (...args: unknown[]) => unknown;
  const guarded = (...args: unknown[]) => {
    if (typeof args.at(-1) !== 'function') return query(...args);
    const callback = args.at(-1) as (...answer: unknown[]) => void;
    return query(...args.slice(0, -1), (error: { code?: string } | null, ...rest: unknown[]) => {
      if (error?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
      callback(error, ...rest);
    });
  };
  Object.assign(connection, { query: guarded });
}

function run(connection: PoolConnection, statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(statement, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Undefined before the connection and with SQLite, which has no pool. */
export function poolCounts(dataSource: DataSource): PoolCounts | undefined {
  const pool = dataSource.isInitialized ? mysqlDriver(dataSource).pool : undefined;
  if (pool?._allConnections === undefined) return undefined;
  return {
    open: pool._allConnections.length,
    idle: pool._freeConnections?.length ?? 0,
    waiting: pool._connectionQueue?.length ?? 0,
  };
}
