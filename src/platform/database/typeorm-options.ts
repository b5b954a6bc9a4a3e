import type { DataSourceOptions, Logger } from 'typeorm';
import { migrations } from '../../../migrations/all';
import { keepAliveInitialDelay, parseMysqlUrl, verifiableSocket } from './mysql-address';
import { connectTimeoutMs, sqliteBusyMs, statementTimeoutMs } from './time-limits';

/** The loggers of TypeORM print statements with their parameters, which include hashes and tokens. */
class SilentLogger implements Logger {
  logQuery(): void {}
  logQueryError(): void {}
  logQuerySlow(): void {}
  logSchemaBuild(): void {}
  logMigration(): void {}
  log(): void {}
}

const shared = {
  migrations,
  synchronize: false,
  logger: new SilentLogger(),
  // By default `where: { uid: undefined }` matches the first row of the table (docs/spec/attacks.md#w42).
  invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
} as const;

const sqliteBusyMsWithoutLimits = 60_000;

/**
 * The options for the server, the command line and the CLI of TypeORM.
 * @param timeLimits false for work that may take long: a command, the migration of a large table
 * @param synchronous `SQLITE_SYNCHRONOUS`. In WAL mode `normal` does not wait for the disk at each commit: a power failure
 * can undo the last ones, never damage the file (https://www.sqlite.org/pragma.html#pragma_synchronous)
 */
export function typeormOptions(
  url: string,
  poolSize: number,
  timeLimits = true,
  synchronous: 'full' | 'normal' = 'full',
): DataSourceOptions {
  if (url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: url.slice('sqlite:'.length),
      enableWAL: true,
      prepareDatabase: (database: { pragma(text: string): unknown }) => {
        database.pragma(`synchronous = ${synchronous}`);
      },
      timeout: timeLimits ? sqliteBusyMs : sqliteBusyMsWithoutLimits,
    };
  }
  const { host, port, username, password, database, ssl } = parseMysqlUrl(url);
  return {
    ...shared,
    type: 'mysql',
    host,
    port,
    username,
    password,
    database,
    ssl,
    charset: 'utf8mb4',
    timezone: 'Z',
    poolSize,
    connectTimeout: connectTimeoutMs,
    enableQueryTimeout: timeLimits,
    maxQueryExecutionTime: timeLimits ? statementTimeoutMs : undefined,
    extra: {
      enableKeepAlive: true,
      keepAliveInitialDelay,
      maxIdle: poolSize,
      // mysql2 reserves memory for so many on each connection: 250 KB for its default of 16,000.
      maxPreparedStatements: 500,
      ...(ssl?.verifyIdentity === true ? { stream: verifiableSocket(host, port) } : {}),
    },
  };
}

/** The options for migrations, without time limits. */
export function migrationOptions(url: string): DataSourceOptions {
  return typeormOptions(url, 2, false);
}
