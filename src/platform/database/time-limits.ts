/** Limits in milliseconds for the wait for a connection and for a statement, together below 5 s (ADR 0018). */
export const acquireTimeoutMs = 2400;
export const statementTimeoutMs = 2400;

/** The limit for a new connection, from TCP to the end of the login. */
export const connectTimeoutMs = 2500;

/**
 * No wait of a request for a connection or a statement lasts beyond this time after its start, whatever else the request
 * does (hashing, a directory). It is therefore answered within 5 s.
 */
export const requestMs = 4500;

/** The server ends a statement before the program stops waiting, so that no statement keeps running on the server. */
export const serverLockWaitSeconds = 2;
export const serverStatementMs = 2200;

/**
 * How long a connection with an unanswered statement keeps its place in the pool. A live server has answered by then.
 */
export const abandonedMs = 3000;

/**
 * Work that lost a deadlock or a certification is started again only within this time after its first start. Together
 * with the limit of its last statement, this is below 5 s (ADR 0029).
 */
export const repeatMs = 2500;

/** How long SQLite waits for the lock of another process. better-sqlite3 blocks the event loop during this wait. */
export const sqliteBusyMs = 4000;
