const minute = 60;
export const hour = 60 * minute;
export const day = 24 * hour;

/**
 * How long the rows of a table are kept. The owner of the table declares it, and `purge` deletes the older ones. A kept
 * row gives the answer "expired" instead of "unknown", and a replica whose clock is behind may still need it.
 */
export interface OldRows {
  /** Table and columns become part of the SQL text, so they must be constants of the code. */
  readonly table: string;
  /** The first column of the primary key. */
  readonly key: string;
  /** An indexed time column, so that the search needs no table scan. */
  readonly time: string;
  /** Seconds from that time until the row is deleted. `logs`: as many days as the operator keeps the logs. */
  readonly seconds: number | 'logs';
  /** A further SQL condition. Rows that do not meet it are never deleted. */
  readonly only?: string;
}

/**
 * Only rows whose subject is a hash: e-mail addresses and login names without a user, and logout tokens. Gate rows of users (a uid has
 * at most 36 characters) stay, because their number is bounded by the number of users. If a gate row were deleted between its
 * creation and its lock, the request would fail.
 */
export const oldCooldowns: OldRows = {
  table: 'cooldowns',
  key: 'subject',
  time: 'until',
  only: 'LENGTH(subject) = 64',
  seconds: day,
};
