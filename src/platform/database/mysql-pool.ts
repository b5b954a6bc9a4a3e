import type { PoolConnection } from 'mysql2';
import type { DataSource } from 'typeorm';
import { boundStatements, sessionSettings, sessionTimeLimits } from './mysql-session';
import { noteGaleraNode } from './galera-node';
import type { DatabaseOutages } from './database-outages';
import type { DatabaseWaits } from './database-waits';
import type { DiskSpace } from './disk-space';
import { storeCode } from './store-failure';
import { acquireTimeoutMs } from './time-limits';

export interface PoolCounts {
  readonly open: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** NewConnections. */
export interface NewConnectionWatch {
  readonly url: string;
  accepted(): void;
  failed(error: unknown, url: string): boolean;
}

interface Counted {
  readonly length: number;
}

interface MysqlDriver {
  pool?: {
    readonly config: { readonly connectionConfig: object };
    // The pool has no public API for its sizes. All three are optional, so a change of the driver costs only a metric.
    readonly _allConnections?: Counted;
    readonly _freeConnections?: Counted;
    readonly _connectionQueue?: Counted;
  };
  obtainMasterConnection(): Promise<PoolConnection>;
}

export const mysqlDriver = (dataSource: DataSource): MysqlDriver => dataSource.driver;

/**
 * Limits the wait for a free connection, also for the repositories of TypeORM. The pool of mysql2 would wait without
 * end. Each connection gets its session settings and time limits before its first use. The command line has no time
 * limits.
 */
export function boundThePool(
  dataSource: DataSource,
  waits: DatabaseWaits,
  outages: DatabaseOutages,
  newConnections: NewConnectionWatch,
  disk: DiskSpace,
): void {
  const driver = mysqlDriver(dataSource);
  const obtain = driver.obtainMasterConnection.bind(driver);
  // A connection is prepared when it is first handed out, not when the pool opens it, because the pool has opened the
  // first connection before this function runs.
  const prepared = new WeakSet<PoolConnection>();
  const limited = dataSource.options.maxQueryExecutionTime !== undefined;
  const settings = limited ? [...sessionSettings, ...sessionTimeLimits] : sessionSettings;
  const prepare = async (connection: PoolConnection) => {
    await Promise.all([...settings.map((statement) => run(connection, statement)), noteGaleraNode(connection)]);
    if (limited) boundStatements(connection, waits, outages, disk);
    prepared.add(connection);
  };

  driver.obtainMasterConnection = async () => {
    const { mark } = outages;
    const { url } = newConnections;
    const wait: { over: boolean; connection?: PoolConnection } = { over: false };
    const refused = (error: unknown): never => {
      outages.refused(error);
      throw error;
    };
    const connected = obtain().catch((error: unknown) =>
      newConnections.failed(error, url) ? obtain().catch(refused) : refused(error),
    );
    const handedOut = connected.then(async (connection) => {
      if (wait.over) return connection.release();
      wait.connection = connection;
      if (prepared.has(connection)) return;
      await prepare(connection);
      newConnections.accepted();
      outages.answered(mark);
    });
    try {
      await waits.within(acquireTimeoutMs, handedOut, 'no database connection became free in time');
      return wait.connection as PoolConnection;
    } catch (error) {
      wait.over = true;
      if (storeCode(error) === 'ETIMEDOUT') outages.silent(acquireTimeoutMs);
      // A connection that was handed out did not accept its settings, so it cannot be used.
      wait.connection?.destroy();
      throw error;
    }
  };
}

function run(connection: PoolConnection, statement: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connection.query(statement, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Returns undefined before the first connection, and with SQLite, which has no pool. */
export function poolCounts(dataSource: DataSource): PoolCounts | undefined {
  const pool = dataSource.isInitialized ? mysqlDriver(dataSource).pool : undefined;
  if (pool?._allConnections === undefined) return undefined;
  return {
    open: pool._allConnections.length,
    idle: pool._freeConnections?.length ?? 0,
    waiting: pool._connectionQueue?.length ?? 0,
  };
}
