import { Controller, Query, type StreamableFile } from '@nestjs/common';
import type { LogPlace, LogRow } from '../../audit/log-search';
import { auditLog, type LogFilter, loginLog, type LogTable } from '../../audit/log-tables';
import { KeyRing } from '../../platform/crypto/key-ring';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { everyTenant } from '../admin-scope';
import type { Authority } from '../authority';
import { AdminList } from '../frame/admin-route';
import { Caller } from '../frame/caller';
import { plainCursors, sealedCursors } from '../frame/cursor';
import { listed, type Page, type Reader, type ReadRows, Streamed, streamNote } from '../frame/lists';
import { Logs } from '../logs';
import { requestTime } from './refusals';
import { AuditLogItem, AuditLogPage, AuditLogsQuery, LoginLogItem, LoginLogPage, LoginLogsQuery } from './logs.dto';

type AnyQuery = LoginLogsQuery & AuditLogsQuery;

@ApiTags('admin')
@Controller('admin')
export class AdminLogsController {
  constructor(
    private readonly logs: Logs,
    private readonly keys: KeyRing,
  ) {}

  @AdminList('login-logs', 'logs.read', LoginLogPage)
  @ApiOperation({ operationId: 'adminListLoginLogs', summary: 'Search the logins', description: streamNote })
  logins(
    @Query() query: LoginLogsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<LoginLogItem> | StreamableFile> {
    return this.rows(loginLog, query, streamed, by, loginLogItem);
  }

  @AdminList('audit-logs', 'logs.read', AuditLogPage)
  @ApiOperation({ operationId: 'adminListAuditLogs', summary: 'Search the audit', description: streamNote })
  audits(
    @Query() query: AuditLogsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AuditLogItem> | StreamableFile> {
    return this.rows(auditLog, query, streamed, by, auditLogItem);
  }

  /**
   * A page of one tenant can end at the row of another one, so its cursor is sealed (ADR 0027).
   */
  private rows<Item>(
    log: LogTable,
    query: AnyQuery,
    streamed: Reader | undefined,
    by: Authority,
    itemOf: (row: LogRow) => Item,
  ): Promise<Page<Item> | StreamableFile> {
    const filter = filterOf(query);
    const read: ReadRows<Item> = async (limit, after) => {
      const { items, next } = await this.logs.page(log, filter, by.scope, limit, after as LogPlace | undefined);
      return { items: items.map(itemOf), next };
    };
    const cursors = by.scope.tenantId === everyTenant ? plainCursors : sealedCursors(this.keys);
    return listed(query, streamed, ['number', 'number'], read, cursors);
  }
}

function filterOf(query: AnyQuery): LogFilter {
  const { request_id: requestId, user_id: userId, actor_id: actorId, event, outcome, ip, from, to } = query;
  return {
    ...{ requestId, userId, actorId, event, outcome },
    // Stored addresses are in lower case.
    ip: ip?.toLowerCase(),
    from: from === undefined ? undefined : requestTime('from', from),
    to: to === undefined ? undefined : requestTime('to', to),
  };
}

const textOrNull = (value: unknown) => value as string | null;

const loginLogItem = (row: LogRow): LoginLogItem => ({
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

const auditLogItem = (row: LogRow): AuditLogItem => ({
  id: String(row.id),
  created_at: row.createdAt.toISOString(),
  event: String(row.event),
  user_id: textOrNull(row.user_id),
  actor_id: textOrNull(row.actor_id),
  ip: textOrNull(row.ip),
  user_agent: textOrNull(row.user_agent),
  request_id: textOrNull(row.request_id),
  detail: JSON.parse(String(row.detail)) as Record<string, unknown>,
});
