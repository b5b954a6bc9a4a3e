import type { DataSourceOptions, Logger } from 'typeorm';
import { migrations } from '../../../migrations/all';
import { parseMysqlUrl } from './mysql-address';
import { statementTimeoutMs } from './time-limits';

/** TypeORM would print statements with their parameters: hashes and tokens among them. */
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
  // `where: { uid: undefined }` would otherwise match the first row of the table (W42).
  invalidWhereValuesBehavior: { null: 'throw', undefined: 'throw' },
} as const;

/** better-sqlite3 holds the event loop while it waits for another process, and a failed wait is not repeated. */
const sqliteBusyMs = 4000;

/** One set of options for the server, the command line and TypeORM's own CLI. */
export function typeormOptions(url: string, poolSize: number): DataSourceOptions {
  if (url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: url.slice('sqlite:'.length),
      enableWAL: true,
      timeout: sqliteBusyMs,
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
    connectTimeout: 2500,
    enableQueryTimeout: true,
    maxQueryExecutionTime: statementTimeoutMs,
    extra: { enableKeepAlive: true, keepAliveInitialDelay: 10_000, maxIdle: poolSize },
  };
}

/** The same without time limits, on one connection: a migration of a large table may take its time. */
export function migrationOptions(url: string): DataSourceOptions {
  const options = typeormOptions(url, 2);
  return options.type === 'mysql'
    ? { ...options, enableQueryTimeout: false, maxQueryExecutionTime: undefined }
    : options;
}
