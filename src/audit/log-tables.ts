import type { OldAddresses } from '../platform/database/old-addresses';
import type { OldRows } from '../platform/database/old-rows';
import type { ToldTable } from '../platform/database/told-rows';
import type { SqlValue } from '../platform/database/sql';

/** The condition on the column that names the user of a row. The caller decides which users it may see. */
export type UserCondition = (column: string) => { readonly text: string; readonly values: readonly SqlValue[] };

/** What a search selects. Each log has the filters that it has columns for. */
export interface LogFilter {
  readonly requestId?: string;
  readonly userId?: string;
  /** The login name as it was typed. */
  readonly loginName?: string;
  readonly actorId?: string;
  readonly event?: string;
  readonly outcome?: string;
  /** Only what was refused: every outcome but `success`. */
  readonly failed?: true | undefined;
  /** Only what somebody did to another account or to a setting: rows that name who acted. */
  readonly acted?: true | undefined;
  readonly ip?: string;
  /** The first moment that is selected. */
  readonly from?: Date;
  /** The first moment that is not selected any more. */
  readonly to?: Date;
}

export type LogField = Exclude<keyof LogFilter, 'failed' | 'acted' | 'from' | 'to'>;

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
    ['loginName', 'login_name'],
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

/** In a row whose actor is somebody else, the address and the browser are those of the other person. */
const ofOneself = (column: string) => `CASE WHEN actor_id IS NULL OR actor_id = user_id THEN ${column} END`;

/** What the export of a person tells of the logs. Of what somebody did as an administrator, it does not tell to whom. */
export const toldLogs: readonly ToldTable[] = [
  {
    table: 'login_logs',
    section: 'logins',
    user: 'user_id',
    order: ['created_at', 'id'],
    columns: {
      ...{ id: 'number', created_at: 'time', login_name: 'value', provider: 'value', mfa: 'value', outcome: 'value' },
      ...{ ip: 'value', user_agent: 'value', request_id: 'value' },
    },
  },
  {
    table: 'audit_logs',
    section: 'audit',
    user: 'user_id',
    order: ['created_at', 'id'],
    columns: {
      ...{ id: 'number', created_at: 'time', event: 'value', actor_id: 'value', detail: 'json' },
      ...{ ip: 'internal', user_agent: 'internal', request_id: 'internal' },
    },
    more: { ip: ofOneself('ip'), user_agent: ofOneself('user_agent'), request_id: ofOneself('request_id') },
  },
  {
    table: 'audit_logs',
    section: 'audit_as_administrator',
    user: 'actor_id',
    order: ['created_at', 'id'],
    columns: {
      ...{ id: 'number', created_at: 'time', event: 'value', ip: 'value', user_agent: 'value', request_id: 'value' },
      ...{ user_id: 'internal', detail: 'internal' },
    },
    // The actor of a row without an address is an operator (`--actor`), whose name an imported user may have as the uid.
    only: 'ip IS NOT NULL',
  },
];

export const logAddresses: readonly OldAddresses[] = [loginLog, auditLog].map(({ table }) => ({
  ...{ table, key: 'id', seen: 'created_at', by: { kind: 'marked' } },
}));

export const oldLogs: readonly OldRows[] = [loginLog, auditLog].map(({ table }) => ({
  table,
  key: 'id',
  time: 'created_at',
  seconds: 'logs',
}));
