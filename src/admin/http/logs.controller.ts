import { Controller, Query, type StreamableFile } from '@nestjs/common';
import type { LogPlace, LogRow } from '../../audit/log-search';
import { auditLog, loginLog, type LogTable } from '../../audit/log-tables';
import { KeyRing } from '../../platform/crypto/key-ring';
import { ApiOperation, ApiTags } from '../../platform/http/api-docs';
import { everyTenant } from '../admin-scope';
import type { Authority } from '../authority';
import { AdminLog } from '../frame/admin-route';
import { AlsoFor } from '../frame/declared-routes';
import { Caller } from '../frame/caller';
import { csvNote } from '../frame/csv';
import { plainCursors, sealedCursors } from '../frame/cursor';
import { type CsvTable, listed, type Page, type Reader, type ReadRows, Streamed, streamNote } from '../frame/lists';
import { type LogQuestion, Logs } from '../logs';
import { requestTime } from './refusals';
import { auditLogItem, auditTable, loginLogItem, loginTable } from './log-items';
import {
  anyFailure,
  AuditLogItem,
  AuditLogPage,
  AuditLogsQuery,
  LoginLogItem,
  LoginLogPage,
  LoginLogsQuery,
} from './logs.dto';

const notes = `${streamNote} ${csvNote}`;

type AnyQuery = LoginLogsQuery & AuditLogsQuery;

@ApiTags('admin')
@Controller('admin')
export class AdminLogsController {
  constructor(
    private readonly logs: Logs,
    private readonly keys: KeyRing,
  ) {}

  @AlsoFor('auditor')
  @AdminLog('login-logs', LoginLogPage)
  @ApiOperation({ operationId: 'adminListLoginLogs', summary: 'Search the logins', description: notes })
  logins(
    @Query() query: LoginLogsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<LoginLogItem> | StreamableFile> {
    return this.rows(loginLog, query, streamed, by, loginTable, (rows) => Promise.resolve(rows.map(loginLogItem)));
  }

  @AlsoFor('auditor')
  @AdminLog('audit-logs', AuditLogPage)
  @ApiOperation({ operationId: 'adminListAuditLogs', summary: 'Search the audit', description: notes })
  audits(
    @Query() query: AuditLogsQuery,
    @Streamed() streamed: Reader | undefined,
    @Caller() by: Authority,
  ): Promise<Page<AuditLogItem> | StreamableFile> {
    return this.rows(auditLog, query, streamed, by, auditTable, async (rows) => {
      const names = await this.logs.namesIn(rows, by.scope);
      return rows.map((row) => auditLogItem(row, names));
    });
  }

  /**
   * A page of one tenant can end at the row of another one, so its cursor is sealed (ADR 0027).
   */
  private rows<Item>(
    log: LogTable,
    query: AnyQuery,
    streamed: Reader | undefined,
    by: Authority,
    table: CsvTable<Item>,
    itemsOf: (rows: readonly LogRow[]) => Promise<Item[]>,
  ): Promise<Page<Item> | StreamableFile> {
    const filter = filterOf(query);
    const read: ReadRows<Item> = async (limit, after) => {
      const { items, next } = await this.logs.page(log, filter, by.scope, limit, after as LogPlace | undefined);
      return { items: await itemsOf(items), next };
    };
    const cursors = by.scope.tenantId === everyTenant ? plainCursors : sealedCursors(this.keys);
    return listed(query, streamed, ['number', 'number'], read, cursors, table);
  }
}

function filterOf(query: AnyQuery): LogQuestion {
  const { request_id: requestId, user, user_id: userId, actor_id: actorId, event, outcome, ip, from, to } = query;
  return {
    ...{ requestId, user, userId, actorId, event },
    ...(outcome === anyFailure ? { failed: true } : { outcome }),
    // Stored addresses are in lower case.
    ip: ip?.toLowerCase(),
    from: from === undefined ? undefined : requestTime('from', from),
    to: to === undefined ? undefined : requestTime('to', to),
  };
}
