import type { ReactNode } from 'react';
import type { AdminLoginLog } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { OutcomeBadge } from '../parts/badges';
import { ExportButton } from '../parts/export-button';
import { At, Facts, Ip, Or, UserLink } from '../parts/facts';
import { SelectField, TypedFilter } from '../parts/fields';
import { Key } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { logFilters, NoRows, TimeFilters } from '../parts/log-filters';
import { PageHead } from '../parts/page-head';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';

const names = ['user_id', 'outcome', 'ip', 'request_id', 'from', 'to'] as const;

export function LoginsPage(): ReactNode {
  const { t } = useSpeech();
  const { logins: texts, logs, users } = useTexts();
  const filters = useFilters(names);
  const list = admin.loginLogs(logFilters(filters.values));
  const rows = useRows(list, filters.key);
  const columns: Column<AdminLoginLog>[] = [
    { heading: logs.time, cell: (row) => <At at={row.created_at} exact /> },
    { heading: logs.user, cell: (row) => <UserLink uid={row.user_id} name={row.login_name} />, kind: 'main' },
    { heading: texts.outcome, cell: (row) => <OutcomeBadge outcome={row.outcome} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} /> },
    { heading: logs.device, cell: (row) => deviceName(row.user_agent, t), kind: 'quiet' },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        <ExportButton list={list} name="login-logs" />
      </PageHead>
      <FilterBar any={filters.any}>
        <TypedFilter
          label={logs.userId}
          value={filters.values.user_id}
          onChange={(value) => filters.set('user_id', value)}
        />
        <SelectField
          label={texts.outcome}
          value={filters.values.outcome}
          options={[['', users.all], ...Object.entries(texts.outcomes)]}
          onChange={(value) => filters.set('outcome', value)}
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
              [texts.provider, (users.providers as Record<string, string>)[row.provider] ?? row.provider],
              [texts.factor, <Or text={row.mfa} />],
              [logs.userId, <Or text={row.user_id} />],
              [logs.requestId, <Or text={row.request_id} />],
              [logs.userAgent, <Or text={row.user_agent} />],
            ]}
          />
        )}
        empty={<NoRows icon={<Key />} filters={filters} />}
      />
    </>
  );
}
