import type { AuditEvent } from '../../audit/audit-trail';
import type { AuditRow, LoginRow } from '../../audit/log-sink';
import { auditTypes, loginTypes } from '../event-types';

/** What another system gets: the columns of one row of a log, and nothing else (docs/spec/extensions.md#e). */
export interface ServiceEvent {
  readonly type: string;
  /** When the row was written, ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function auditEvent(row: AuditRow, id: number): ServiceEvent {
  const timestamp = row.createdAt.toISOString();
  return {
    // AuditTrail writes no other events.
    type: auditTypes[row.event as AuditEvent],
    timestamp,
    data: {
      id: String(id),
      event: row.event,
      user_id: row.userId,
      actor_id: row.actorId,
      ip: row.ip,
      user_agent: row.userAgent,
      request_id: row.requestId,
      detail: row.detail,
      created_at: timestamp,
    },
  };
}

export function loginEvent(row: LoginRow, id: number): ServiceEvent {
  const timestamp = row.createdAt.toISOString();
  return {
    type: row.outcome === 'success' ? loginTypes.success : loginTypes.failure,
    timestamp,
    data: {
      id: String(id),
      user_id: row.userId,
      login_name: row.loginName,
      provider: row.provider,
      mfa: row.mfa,
      outcome: row.outcome,
      ip: row.ip,
      user_agent: row.userAgent,
      request_id: row.requestId,
      created_at: timestamp,
    },
  };
}
