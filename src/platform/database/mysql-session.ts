import type { PoolConnection } from 'mysql2';
import type { DatabaseOutages } from './database-outages';
import type { DiskSpace } from './disk-space';
import type { DatabaseWaits } from './database-waits';
import { abandonedCode, storeCode } from './store-failure';
import { abandonedMs, serverLockWaitSeconds, serverStatementMs, statementTimeoutMs } from './time-limits';

/**
 * READ COMMITTED, because guarded writes need no gap locks, and gap locks cause deadlocks between concurrent
 * transactions (ADR 0003).
 */
export const sessionSettings = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00'`,
  // With this mode a backslash in a value would not be escaped where the driver writes the value into the statement.
  "SET SESSION sql_mode = REPLACE(@@SESSION.sql_mode, 'NO_BACKSLASH_ESCAPES', '')",
  // The names of 1,000 groups of a user, each of 255 characters (ADR 0037). MySQL would cut the list after 1,024 bytes.
  'SET SESSION group_concat_max_len = 1100000',
];

/**
 * Limits for the waits for row locks and table locks, and for the whole statement. MariaDB and MySQL have different
 * names for the limit of the statement. MySQL executes only the second comment. MariaDB executes only the first one,
 * because it ignores comments with the version numbers of MySQL 5.7 and later.
 */
export const sessionTimeLimits = [
  `SET SESSION innodb_lock_wait_timeout = ${serverLockWaitSeconds}, lock_wait_timeout = ${serverLockWaitSeconds}
     /*M!100101 , max_statement_time = ${serverStatementMs / 1000} */
     /*!50708 , max_execution_time = ${serverStatementMs} */`,
];

type Statement = (...args: unknown[]) => unknown;
type Callback = (error: (Error & { fatal?: boolean }) | null, ...rest: unknown[]) => void;

/**
 * Limits the wait for each statement of the connection, also for those of TypeORM (ADR 0018). Only the caller stops
 * waiting. Closing the socket would leave the statement and the connection alive at the server, and the pool would open
 * another one. So the connection keeps its place in the pool until the server has answered. Then its transaction is
 * rolled back, and it is free again. If the server is silent for much longer, the connection is destroyed.
 */
export function boundStatements(
  connection: PoolConnection,
  waits: DatabaseWaits,
  outages: DatabaseOutages,
  disk: DiskSpace,
): void {
  const query = connection.query.bind(connection) as Statement;
  const release = connection.release.bind(connection);
  let unanswered = 0;
  let whenAnswered: (() => void) | undefined;

  const bounded =
    (statement: Statement): Statement =>
    (...args) => {
      const callback = args.at(-1) as Callback;
      if (typeof callback !== 'function') return statement(...args);
      const { mark } = outages;
      let abandoned = false;
      const end = waits.begin(statementTimeoutMs, () => {
        end();
        abandoned = true;
        unanswered++;
        outages.silent(statementTimeoutMs);
        callback(Object.assign(new Error('the database did not answer in time'), { code: abandonedCode }));
      });
      return statement(...withoutTimeout(args), (error: (Error & { fatal?: boolean }) | null, ...rest: unknown[]) => {
        if (error?.fatal !== true) outages.answered(mark);
        if (error) disk.failed(error);
        if (!abandoned) {
          end();
          callback(error, ...rest);
        } else if (--unanswered === 0) whenAnswered?.();
      });
    };

  const releaseWhenAnswered = () => {
    if (unanswered === 0) return release();
    if (whenAnswered !== undefined) return;
    const giveUp = setTimeout(() => connection.destroy(), abandonedMs).unref();
    whenAnswered = () => {
      whenAnswered = undefined;
      query('ROLLBACK', (error: unknown) => {
        clearTimeout(giveUp);
        if (error) connection.destroy();
        else release();
      });
    };
  };

  Object.assign(connection, {
    query: bounded(query),
    execute: bounded(connection.execute.bind(connection) as Statement),
    release: releaseWhenAnswered,
  });
}

/**
 * Removes the callback, and the time-out of the driver that TypeORM sets, because with that time-out the driver loses
 * the late answer.
 */
function withoutTimeout(args: unknown[]): unknown[] {
  const [statement, ...rest] = args.slice(0, -1);
  const timed = typeof statement === 'object' && statement !== null && 'timeout' in statement;
  return [timed ? { ...statement, timeout: undefined } : statement, ...rest];
}

/** Whether the connection can be used again, at once or after the late answer. Other store failures end it. */
export function canBeReleased(error: unknown): boolean {
  return keepsConnection.has(storeCode(error));
}

const keepsConnection = new Set([
  abandonedCode,
  'ER_LOCK_DEADLOCK',
  'ER_NEED_REPREPARE',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_STATEMENT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
]);
