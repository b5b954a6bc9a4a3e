import type { OldRows } from '../platform/database/old-rows';
import type { SqlValue } from '../platform/database/sql';

/** The condition on the column that names the user of a row. The caller decides which users it may see. */
export type UserCondition = (column: string) => { readonly text: string; readonly values: readonly SqlValue[] };

/** What a search selects. Each log has the filters that it has columns for. */
export interface LogFilter {
  readonly requestId?: string;
  readonly userId?: string;
  readonly actorId?: string;
  readonly event?: string;
  readonly outcome?: string;
  readonly ip?: string;
  /** The first moment that is selected. */
  readonly from?: Date;
  /** The first moment that is not selected any more. */
  readonly to?: Date;
}

export type LogField = Exclude<keyof LogFilter, 'from' | 'to'>;

/** All names become part of the SQL text, so they are constants of the code. */
export interface LogTable {
  readonly table: 'login_logs' | 'audit_logs';
  /** Columns of an item, beside `id` and `created_at`. */
  readonly columns: readonly string[];
  /**
   * The columns that can be searched, the one that usually selects the fewest rows first. Each has an index on itself,
   * `created_at` and the key.
   */
  readonly filters: readonly (readonly [field: LogField, column: string])[];
}

export const loginLog: LogTable = {
  table: 'login_logs',
  columns: ['user_id', 'login_name', 'provider', 'mfa', 'outcome', 'ip', 'user_agent', 'request_id'],
  filters: [
    ['requestId', 'request_id'],
    ['userId', 'user_id'],
    ['ip', 'ip'],
    ['outcome', 'outcome'],
  ],
};

export const auditLog: LogTable = {
  table: 'audit_logs',
  columns: ['event', 'user_id', 'actor_id', 'ip', 'user_agent', 'request_id', 'detail'],
  filters: [
    ['requestId', 'request_id'],
    ['userId', 'user_id'],
    ['actorId', 'actor_id'],
    ['ip', 'ip'],
    ['event', 'event'],
  ],
};

export const oldLogs: readonly OldRows[] = [loginLog, auditLog].map(({ table }) => ({
  table,
  key: 'id',
  time: 'created_at',
  seconds: 'logs',
}));
