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
const patientSqliteBusyMs = 60_000;

/**
 * One set of options for the server, the command line and TypeORM's own CLI.
 * @param timeLimits false for work that may take its time: a command, the migration of a large table
 */
export function typeormOptions(url: string, poolSize: number, timeLimits = true): DataSourceOptions {
  if (url.startsWith('sqlite:')) {
    return {
      ...shared,
      type: 'better-sqlite3',
      database: url.slice('sqlite:'.length),
      enableWAL: true,
      timeout: timeLimits ? sqliteBusyMs : patientSqliteBusyMs,
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
    enableQueryTimeout: timeLimits,
    maxQueryExecutionTime: timeLimits ? statementTimeoutMs : undefined,
    extra: { enableKeepAlive: true, keepAliveInitialDelay: 10_000, maxIdle: poolSize },
  };
}

/** For migrations: without time limits. */
export function migrationOptions(url: string): DataSourceOptions {
  return typeormOptions(url, 2, false);
}
