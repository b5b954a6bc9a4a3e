/** Milliseconds that a caller waits for a free connection, and a statement for its answer; together under 5 s (T233). */
export const acquireTimeoutMs = 2400;
export const statementTimeoutMs = 2400;

/** The server ends a statement before the program gives it up, so that no statement is left running there. */
export const serverLockWaitSeconds = 2;
export const serverStatementMs = 2200;

/** How long a statement that was given up keeps its place in the pool. A server that is alive has ended it by then. */
export const abandonedMs = 3000;

/** A unit of work that lost a deadlock is begun again only this long after its first beginning. */
export const repeatMs = 1500;
