import { DomainError } from '../../shared/errors/domain-error';
import { serviceUnavailable } from '../../shared/errors/error-catalogue';

/** The server did not answer a statement in time. The answer may still come. */
export const abandonedCode = 'STATEMENT_ABANDONED';

/** A node of a Galera cluster that is not in the primary component refused a statement before running it (ADR 0029). */
const notReadyCode = 'ER_UNKNOWN_COM_ERROR';

/** Codes that mean "the database cannot answer now", not "the statement is wrong". The answer to the client is 503. */
const unavailable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EMFILE',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  abandonedCode,
  'POOL_CLOSED',
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_NEW_ABORTING_CONNECTION',
  'ER_ACCESS_DENIED_ERROR',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
  'ER_BAD_DB_ERROR',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_OPEN_AS_READONLY',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'ER_DISK_FULL',
  'ER_RECORD_FILE_FULL',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_LOCK_DEADLOCK',
  'ER_NEED_REPREPARE',
  'ER_ERROR_DURING_COMMIT',
  notReadyCode,
  'ER_STATEMENT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
  'ER_OUT_OF_RESOURCES',
  'ER_OUTOFMEMORY',
  'ER_NO_SUCH_TABLE',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_READONLY',
  'SQLITE_CANTOPEN',
  'HANDSHAKE_NO_SSL_SUPPORT',
  'HANDSHAKE_SSL_ERROR',
]);

/**
 * The transaction was rolled back as a whole, so it may run again: it lost a deadlock, also to another node of a cluster
 * (certification), or its node was not ready. `ER_NEED_REPREPARE` is a statement that has done nothing, because a migration changed
 * its tables several times while the server prepared it again; `runTransaction` rolls back what came before it.
 * `ER_ERROR_DURING_COMMIT` is not in this list, because the transaction may have been committed. A lock wait that timed out is not
 * either, because it would wait again.
 */
const repeatable = new Set(['ER_LOCK_DEADLOCK', 'ER_NEED_REPREPARE', notReadyCode, 'SQLITE_BUSY']);

const duplicate = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);

/** Error numbers of MariaDB that have no name in mysql2, or a wrong one: it has the names of the error numbers of MySQL. */
const mariadbCodes: Readonly<Record<number, string>> = {
  1969: 'ER_STATEMENT_TIMEOUT',
  4151: 'ER_ACCOUNT_HAS_BEEN_LOCKED',
};

/** The code of the driver, also inside a QueryFailedError of TypeORM or an AggregateError of connection attempts. */
export function storeCode(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { code, errno, driverError, errors } = error as Partial<
    Record<'code' | 'errno' | 'driverError' | 'errors', unknown>
  >;
  const named = typeof errno === 'number' ? mariadbCodes[errno] : undefined;
  if (named !== undefined) return named;
  if (typeof code === 'string') return code;
  if (driverError !== undefined && driverError !== error) return storeCode(driverError);
  return Array.isArray(errors) ? storeCode(errors[0]) : '';
}

export const isRepeatable = (error: unknown): boolean => repeatable.has(storeCode(error));
export const isDuplicate = (error: unknown): boolean => duplicate.has(storeCode(error));

/** Errors of TypeORM while it is not connected. Before its first connection TypeORM knows no entity. */
const notConnected = new Set(['EntityMetadataNotFoundError', 'CannotExecuteNotConnectedError']);

export function isStoreFailure(error: unknown): boolean {
  if (error instanceof Error && notConnected.has(error.name)) return true;
  if (isFatal(error)) return true;
  const code = storeCode(error);
  // SQLite has one code for all errors of a statement, so the message decides. For MySQL ER_NO_SUCH_TABLE is in the
  // list.
  const missingTable = code === 'SQLITE_ERROR' && /^(SqliteError: )?no such table: /.test((error as Error).message);
  return missingTable || unavailable.has(code) || code.startsWith('SQLITE_IOERR') || code.startsWith('SQLITE_BUSY');
}

/** mysql2 sets `fatal` on an error that ended the connection. An error on a closed connection has no code at all. */
function isFatal(error: unknown): boolean {
  const { fatal, driverError } = (error ?? {}) as { fatal?: unknown; driverError?: unknown };
  return fatal === true || (driverError !== undefined && driverError !== error && isFatal(driverError));
}

export function storeUnavailable(cause?: unknown): DomainError {
  return new DomainError(serviceUnavailable, { retry_after: 2 }, { cause });
}
