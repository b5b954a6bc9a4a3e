import type { Sql } from '../platform/database/sql';

/** A row of `audit_logs` without its id. */
export interface AuditRow {
  /** An `AuditEvent`. */
  readonly event: string;
  readonly userId: string | null;
  readonly actorId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly detail: Readonly<Record<string, string | number | boolean | null>>;
  readonly createdAt: Date;
}

/** A row of `login_logs` without its id. */
export interface LoginRow {
  readonly userId: string | null;
  readonly loginName: string;
  readonly provider: string;
  readonly mfa: string | null;
  /** `success` or the error code. */
  readonly outcome: string;
  readonly ip: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly createdAt: Date;
}

/** Writes the row into its table. @returns the id of the row */
export type InsertRow = (sql: Sql) => Promise<number>;

/**
 * Where the rows of the two logs go besides their tables. Both methods call `insert` once, and what they add is
 * committed together with the row or not at all. Without an implementation, the rows only go to their tables.
 */
export abstract class LogSink {
  /** How many rows are committed together with each row of the logs. */
  abstract readonly addedRows: number;

  abstract audit(sql: Sql, row: AuditRow, insert: InsertRow): Promise<void>;
  abstract login(sql: Sql, row: LoginRow, insert: InsertRow): Promise<void>;
}
