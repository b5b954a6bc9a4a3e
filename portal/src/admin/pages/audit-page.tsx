import type { ReactNode } from 'react';
import type { AdminAuditLog } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { auditEvents } from '../parts/audit-events';
import { ExportButton } from '../parts/export-button';
import { At, Facts, Ip, Or, UserLink } from '../parts/facts';
import { TypedFilter } from '../parts/fields';
import { List as ListIcon } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { logFilters, NoRows, TimeFilters } from '../parts/log-filters';
import { PageHead } from '../parts/page-head';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';

const names = ['event', 'user_id', 'actor_id', 'ip', 'request_id', 'from', 'to'] as const;

export function AuditPage(): ReactNode {
  const { audit: texts, logs } = useTexts();
  const filters = useFilters(names);
  const list = admin.auditLogs(logFilters(filters.values));
  const rows = useRows(list, filters.key);
  const columns: Column<AdminAuditLog>[] = [
    { heading: logs.time, cell: (row) => <At at={row.created_at} exact /> },
    { heading: texts.event, cell: (row) => <code>{row.event}</code>, kind: 'main' },
    { heading: logs.user, cell: (row) => <UserLink uid={row.user_id} /> },
    { heading: texts.actor, cell: (row) => <Actor row={row} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} />, kind: 'quiet' },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        <ExportButton list={list} name="audit-logs" />
      </PageHead>
      <FilterBar any={filters.any}>
        <TypedFilter
          label={texts.event}
          value={filters.values.event}
          onChange={(value) => filters.set('event', value)}
          suggestions={auditEvents}
        />
        <TypedFilter
          label={logs.userId}
          value={filters.values.user_id}
          onChange={(value) => filters.set('user_id', value)}
        />
        <TypedFilter
          label={texts.actorId}
          value={filters.values.actor_id}
          onChange={(value) => filters.set('actor_id', value)}
        />
        <TypedFilter
          label={logs.requestId}
          value={filters.values.request_id}
          onChange={(value) => filters.set('request_id', value)}
        />
        <TypedFilter label={logs.ip} value={filters.values.ip} onChange={(value) => filters.set('ip', value)} />
        <TimeFilters values={filters.values} set={filters.set} />
      </FilterBar>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        detail={(row) => (
          <Facts
            facts={[
              ...Object.entries(row.detail ?? {}).map(([name, value]) => [name, String(value)] as const),
              [logs.userId, <Or text={row.user_id} />],
              [texts.actorId, <Or text={row.actor_id} />],
              [logs.requestId, <Or text={row.request_id} />],
              [logs.userAgent, <Or text={row.user_agent} />],
            ]}
          />
        )}
        empty={<NoRows icon={<ListIcon />} filters={filters} />}
      />
    </>
  );
}

/** The uid of an administrator, or the name of an operator of the command line, who has no address. */
function Actor({ row: { actor_id: actor, ip } }: { readonly row: AdminAuditLog }): ReactNode {
  const { audit } = useTexts();
  if (actor === null) return <span className="none">{audit.service}</span>;
  return ip === null ? actor : <UserLink uid={actor} />;
}
