import type { ReactNode } from 'react';
import type { AdminAuditLog } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { auditEvents } from '../parts/audit-events';
import { Chips, Narrower, useTodayChip } from '../parts/chips';
import { ExportButton } from '../parts/export-button';
import { At, Facts, Ip, Or } from '../parts/facts';
import { TypedFilter } from '../parts/fields';
import { List as ListIcon } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { logFilters, NoRows, RequestFilters } from '../parts/log-filters';
import { PageHead } from '../parts/page-head';
import { PersonFilter } from '../parts/person-filter';
import { Sentence } from '../parts/sentence';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';

const names = ['user', 'event', 'user_id', 'actor_id', 'ip', 'request_id', 'from', 'to'] as const;

export function AuditPage(): ReactNode {
  const { audit: texts, logs } = useTexts();
  const filters = useFilters(names);
  const list = admin.auditLogs(logFilters(filters.values));
  const rows = useRows(list, filters.key);
  const today = useTodayChip(filters);
  const columns: Column<AdminAuditLog>[] = [
    { heading: logs.time, cell: (row) => <At at={row.created_at} exact /> },
    { heading: texts.what, cell: (row) => <Sentence row={row} />, kind: 'main' },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} />, kind: 'quiet' },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        <ExportButton list={list} name="audit-logs" format="csv" />
        <ExportButton list={list} name="audit-logs" />
      </PageHead>
      <FilterBar any={filters.any} chips={<Chips chips={[today]} />}>
        <PersonFilter value={filters.values.user} onChange={(value) => filters.set('user', value)} />
        <TypedFilter
          label={texts.event}
          value={filters.values.event}
          onChange={(value) => filters.set('event', value)}
          suggestions={auditEvents}
        />
        {filters.values.user_id !== '' && (
          <TypedFilter
            label={logs.userId}
            value={filters.values.user_id}
            onChange={(value) => filters.set('user_id', value)}
          />
        )}
        <TypedFilter
          label={texts.actorId}
          value={filters.values.actor_id}
          onChange={(value) => filters.set('actor_id', value)}
        />
        <RequestFilters values={filters.values} set={filters.set} />
      </FilterBar>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        detail={(row) => (
          <>
            <Narrower
              values={filters.values}
              links={[
                [logs.thisPerson, row.user_id === null ? undefined : { user: '', user_id: row.user_id }],
                [texts.thisActor, row.actor_id === null ? undefined : { actor_id: row.actor_id }],
                [logs.thisAddress, row.ip === null ? undefined : { ip: row.ip }],
                [logs.thisRequest, row.request_id === null ? undefined : { request_id: row.request_id }],
              ]}
            />
            <Facts
              facts={[
                [texts.event, <code>{row.event}</code>],
                ...Object.entries(row.detail ?? {}).map(([name, value]) => [name, String(value)] as const),
                [logs.userId, <Or text={row.user_id} />],
                [texts.actorId, <Or text={row.actor_id} />],
                [logs.requestId, <Or text={row.request_id} />],
                [logs.userAgent, <Or text={row.user_agent} />],
              ]}
            />
          </>
        )}
        empty={<NoRows icon={<ListIcon />} filters={filters} />}
      />
    </>
  );
}
