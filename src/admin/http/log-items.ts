import type { LogRow } from '../../audit/log-search';
import type { CsvTable } from '../frame/lists';
import type { AuditLogItem, LoginLogItem } from './logs.dto';

export const loginTable: CsvTable<LoginLogItem> = {
  name: 'login-logs',
  columns: [
    ...(['created_at', 'login_name', 'outcome', 'ip', 'provider', 'mfa'] as const),
    ...(['user_agent', 'user_id', 'request_id', 'id'] as const),
  ],
};

export const auditTable: CsvTable<AuditLogItem> = {
  name: 'audit-logs',
  columns: [
    ...(['created_at', 'event', 'user_name', 'actor_name', 'ip', 'detail'] as const),
    ...(['user_agent', 'user_id', 'actor_id', 'request_id', 'id'] as const),
  ],
};

const textOrNull = (value: unknown) => value as string | null;

export const loginLogItem = (row: LogRow): LoginLogItem => ({
  id: String(row.id),
  created_at: row.createdAt.toISOString(),
  user_id: textOrNull(row.user_id),
  login_name: String(row.login_name),
  provider: String(row.provider),
  mfa: textOrNull(row.mfa),
  outcome: String(row.outcome),
  ip: String(row.ip),
  user_agent: String(row.user_agent),
  request_id: String(row.request_id),
});

/** @param names those of users, by uid */
export const auditLogItem = (row: LogRow, names: ReadonlyMap<string, string>): AuditLogItem => ({
  id: String(row.id),
  created_at: row.createdAt.toISOString(),
  event: String(row.event),
  user_id: textOrNull(row.user_id),
  user_name: names.get(String(row.user_id)) ?? null,
  actor_id: textOrNull(row.actor_id),
  actor_name: row.ip === null ? null : (names.get(String(row.actor_id)) ?? null),
  ip: textOrNull(row.ip),
  user_agent: textOrNull(row.user_agent),
  request_id: textOrNull(row.request_id),
  detail: JSON.parse(String(row.detail)) as Record<string, unknown>,
});
