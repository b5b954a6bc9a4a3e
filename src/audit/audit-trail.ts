import { Injectable, Optional } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { ClientInfo } from '../shared/client-info';
import { Clock } from '../shared/clock';
import { Database } from '../platform/database/database';
import { EntityRows } from '../platform/database/entity-rows';
import type { Sql } from '../platform/database/sql';
import { type AuditRow, LogSink } from './log-sink';
import { type Actor, Operator } from './actor';
import { AuditLog } from './persistence/audit-log.entity';

/** docs/spec/service.md#6.3 defines `USER_RESET_PASSWORD`. The other names have the same form. */
export type AuditEvent =
  | 'USER_RESET_PASSWORD'
  | 'USER_PASSWORD_CHANGED'
  | 'USER_PASSWORD_SET_BY_OPERATOR'
  | 'USER_PASSWORD_CHANGE_REQUIRED'
  | 'USER_PASSWORD_ADOPTED'
  | 'USER_CREATED'
  | 'USER_CHANGED'
  | 'USER_DELETED'
  | 'USER_INVITED'
  | 'USER_IMPORTED'
  | 'USER_IMPORT_CHECKED'
  | 'USER_STATUS_CHANGED'
  | 'USER_OFFBOARDING_STARTED'
  | 'USER_OFFBOARDED'
  | 'USER_EXPORTED'
  | 'USER_UNLOCKED'
  | 'USER_TOKENS_REVOKED'
  | 'USER_PROVISIONED'
  | 'USER_PROVISIONING_REFUSED'
  | 'CURRENT_PASSWORD_WRONG'
  | 'USER_DIRECTORY_BOUND'
  | 'USER_DIRECTORY_REFUSED'
  | 'USER_DIRECTORY_SYNCED'
  | 'USER_EXTERNAL_BOUND'
  | 'USER_EXTERNAL_REFUSED'
  | 'USER_EXTERNAL_SYNCED'
  | 'USER_ADMIN_CHANGED'
  | 'USER_ROLE_CHANGED'
  | 'USER_DIRECTORY_SESSIONS_ENDED'
  | 'SESSION_CLOSED'
  | 'EXTERNAL_LOGOUT'
  | 'OTHER_SESSIONS_CLOSED'
  | 'SESSION_CONFIRMED'
  | 'REFRESH_TOKEN_REUSED'
  | 'MFA_CODE_SENT'
  | 'MFA_CODE_WRONG'
  | 'MFA_BUDGET_EXHAUSTED'
  | 'MFA_TYPE_CHANGED'
  | 'TOTP_ENROLMENT_OPENED'
  | 'TOTP_ENROLLED'
  | 'TOTP_REPLACED'
  | 'TOTP_RESET'
  | 'RECOVERY_CODES_CREATED'
  | 'RECOVERY_CODE_USED'
  | 'RECOVERY_CODES_REVOKED'
  | 'TRUSTED_DEVICE_ADDED'
  | 'TRUSTED_DEVICE_REMOVED'
  | 'TRUSTED_DEVICES_REVOKED'
  | 'TRUSTED_DEVICE_TOKEN_REUSED'
  | 'PASSKEY_ADDED'
  | 'PASSKEY_RENAMED'
  | 'PASSKEY_REMOVED'
  | 'PASSKEYS_REVOKED'
  | 'PASSKEY_COUNTER_REFUSED'
  | 'APPLICATION_SIGNED_IN'
  | 'GRANT_REVOKED'
  | 'APPLICATION_TOKEN_REUSED'
  | 'CONFIG_CHANGED'
  | 'SERVICE_CLIENT_CREATED'
  | 'SERVICE_CLIENT_REVOKED'
  | 'APPLICATION_CREATED'
  | 'APPLICATION_CHANGED'
  | 'APPLICATION_SECRET_ROTATED'
  | 'APPLICATION_DELETED'
  | 'IDENTITY_PROVIDER_CREATED'
  | 'IDENTITY_PROVIDER_CHANGED'
  | 'IDENTITY_PROVIDER_DELETED'
  | 'IDENTITY_PROVIDER_TRIED'
  | 'USER_PROVIDER_CHANGED'
  | 'CONNECTIONS_CHECKED'
  | 'SMTP_TESTED'
  | 'MAIL_RETRIED'
  | 'EVENT_RETRIED'
  | 'EVENTS_REPLAYED'
  | 'WEBHOOK_TESTED'
  | 'EVENT_RECEIVER_CREATED'
  | 'EVENT_RECEIVER_CHANGED'
  | 'EVENT_RECEIVER_SECRET_ROTATED'
  | 'EVENT_RECEIVER_DELETED'
  | 'EVENT_RECEIVER_REPLAYED'
  | 'EVENT_RECEIVER_TESTED'
  | 'TENANT_CREATED'
  | 'TENANT_RENAMED'
  | 'BRAND_CHANGED'
  | 'ORG_UNIT_CREATED'
  | 'ORG_UNIT_RENAMED'
  | 'GROUP_CREATED'
  | 'GROUP_CHANGED'
  | 'GROUP_DELETED'
  | 'GROUP_MEMBER_ADDED'
  | 'GROUP_MEMBER_REMOVED'
  | 'LOG_EXPORTED'
  | 'LIST_EXPORTED'
  | 'PURGE_STARTED'
  | 'PURGE_FINISHED'
  | 'RESEAL_STARTED'
  | 'REVOCATION_BATCH';

export interface AuditEntry {
  readonly userId?: string;
  /** Absent when an operator acts on the command line. */
  readonly client?: ClientInfo;
  /** The administrator who acts. Then `client` is that of the administrator. */
  readonly actor?: Actor;
  /** Numbers and names for the auditor. Never put text of a request here: it can contain a secret. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}

/**
 * Writes one row in `audit_logs` for each account event, in the transaction of the event (docs/spec/service.md#6.3). A
 * row names the administrator who acts through the API, or the operator who runs a command. No decision reads the rows:
 * `purge` deletes them. LogSearch searches them for administrators.
 */
@Injectable()
export class AuditTrail {
  private readonly rows: EntityRows<AuditLog>;

  constructor(
    @InjectRepository(AuditLog) rows: Repository<AuditLog>,
    database: Database,
    private readonly clock: Clock,
    @Optional() private readonly operator?: Operator,
    @Optional() private readonly sink?: LogSink,
  ) {
    this.rows = new EntityRows(rows, database);
  }

  async record(sql: Sql, event: AuditEvent, { userId, actor, detail, ...entry }: AuditEntry): Promise<void> {
    const client = actor?.client ?? entry.client;
    const row: AuditRow = {
      event,
      userId: userId ?? null,
      actorId: actor?.id ?? this.operator?.name ?? null,
      ip: client?.ip ?? null,
      userAgent: client?.userAgent ?? null,
      requestId: client?.requestId ?? null,
      detail: detail ?? {},
      createdAt: this.clock.now(),
    };
    const insert = (into: Sql) => this.rows.insert(into, { ...row, detail: JSON.stringify(row.detail) });
    await (this.sink === undefined ? insert(sql) : this.sink.audit(sql, row, insert));
  }
}
