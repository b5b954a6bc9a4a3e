import type { PoolConnection } from 'mysql2';
import type { DatabaseOutages } from './database-outages';
import type { DatabaseWaits } from './database-waits';
import { abandonedCode, storeCode } from './store-failure';
import { abandonedMs, serverLockWaitSeconds, serverStatementMs, statementTimeoutMs } from './time-limits';

/** READ COMMITTED, because the guarded writes need no gap locks, and gap locks are what makes racers deadlock. */
export const sessionSettings = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET SESSION time_zone = '+00:00'`,
];

/**
 * The server ends the waits for rows and for tables, and the whole statement. MariaDB and MySQL name the last one
 * differently: MySQL reads the first comment as a comment, MariaDB the second (its versions 5.7 and later of such comments
 * are MySQL's own).
 */
export const sessionTimeLimits = [
  `SET SESSION innodb_lock_wait_timeout = ${serverLockWaitSeconds}, lock_wait_timeout = ${serverLockWaitSeconds}
     /*M!100101 , max_statement_time = ${serverStatementMs / 1000} */
     /*!50708 , max_execution_time = ${serverStatementMs} */`,
];

type Statement = (...args: unknown[]) => unknown;
type Callback = (error: (Error & { fatal?: boolean }) | null, ...rest: unknown[]) => void;

/**
 * Bounds each statement of the connection, those of TypeORM too. Only the caller gives up: to close the socket would leave
 * the statement and its connection alive at the server, beside the one that the pool opens instead. So the connection keeps
 * its place until the server has answered, then rolls back and is free again. A server that is silent for longer is given
 * up with its connection.
 */
export function boundStatements(connection: PoolConnection, waits: DatabaseWaits, outages: DatabaseOutages): void {
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

/** Without the callback, and without the driver's own time-out, which TypeORM asks for: it would lose the late answer. */
function withoutTimeout(args: unknown[]): unknown[] {
  const [statement, ...rest] = args.slice(0, -1);
  const timed = typeof statement === 'object' && statement !== null && 'timeout' in statement;
  return [timed ? { ...statement, timeout: undefined } : statement, ...rest];
}

/** The connection is at rest, or will be when the late answer has come; any other failure of the store ends it. */
export function canBeReleased(error: unknown): boolean {
  return keepsConnection.has(storeCode(error));
}

const keepsConnection = new Set([
  abandonedCode,
  'ER_LOCK_DEADLOCK',
  'ER_LOCK_WAIT_TIMEOUT',
  'ER_STATEMENT_TIMEOUT',
  'ER_QUERY_TIMEOUT',
]);
