import type { ReactNode } from 'react';
import type { AdminLoginLog } from '@portal-auth/sdk/admin';
import { deviceName } from '../../account/device-name';
import { useSpeech } from '../../i18n/texts';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { Chips, Narrower, useTodayChip } from '../parts/chips';
import { OutcomeBadge } from '../parts/badges';
import { ExportButton } from '../parts/export-button';
import { At, Facts, Ip, Or, UserLink } from '../parts/facts';
import { SelectField, TypedFilter } from '../parts/fields';
import { Key } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { logFilters, NoRows, RequestFilters } from '../parts/log-filters';
import { PersonFilter } from '../parts/person-filter';
import { PageHead } from '../parts/page-head';
import type { Column } from '../parts/table';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

/** The outcome of an attempt under a name that nobody has. */
const nobody = 'LOGIN_404001';

const names = ['user', 'user_id', 'outcome', 'ip', 'request_id', 'from', 'to'] as const;

export function LoginsPage(): ReactNode {
  const { t } = useSpeech();
  const { logins: texts, logs, users } = useTexts();
  const filters = useFilters(names);
  const list = admin.loginLogs(logFilters(filters.values));
  const rows = useRows(list, filters.key);
  const today = useTodayChip(filters);
  const { root } = useViewer();
  const unknown = filters.values.outcome === nobody;
  const failed = filters.values.outcome === 'failed';
  const chips = [
    today,
    { label: logs.failed, on: failed, toggle: () => filters.set('outcome', failed ? '' : 'failed') },
    ...(root
      ? [{ label: texts.unknown, on: unknown, toggle: () => filters.set('outcome', unknown ? '' : nobody) }]
      : []),
  ];
  const columns: Column<AdminLoginLog>[] = [
    { heading: logs.time, cell: (row) => <At at={row.created_at} exact /> },
    { heading: logs.user, cell: (row) => <Who row={row} />, kind: 'main' },
    { heading: texts.outcome, cell: (row) => <OutcomeBadge outcome={row.outcome} /> },
    { heading: logs.ip, cell: (row) => <Ip ip={row.ip} /> },
    { heading: logs.device, cell: (row) => deviceName(row.user_agent, t), kind: 'quiet' },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        <ExportButton list={list} name="login-logs" format="csv" />
        <ExportButton list={list} name="login-logs" />
      </PageHead>
      <FilterBar any={filters.any} chips={<Chips chips={chips} />}>
        <PersonFilter value={filters.values.user} onChange={(value) => filters.set('user', value)} />
        {filters.values.user_id !== '' && (
          <TypedFilter
            label={logs.userId}
            value={filters.values.user_id}
            onChange={(value) => filters.set('user_id', value)}
          />
        )}
        <SelectField
          label={texts.outcome}
          value={filters.values.outcome}
          options={[['', users.all], ['failed', texts.anyFailure], ...Object.entries(texts.outcomes)]}
          onChange={(value) => filters.set('outcome', value)}
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
                row.user_id === null
                  ? [texts.thisName, { user: row.login_name, user_id: '' }]
                  : [logs.thisPerson, { user: '', user_id: row.user_id }],
                [logs.thisAddress, { ip: row.ip }],
                [logs.thisRequest, row.request_id === '' ? undefined : { request_id: row.request_id }],
              ]}
            />
            <Facts
              facts={[
                [texts.provider, (users.providers as Record<string, string>)[row.provider] ?? row.provider],
                [texts.factor, <Or text={row.mfa} />],
                [logs.userId, <Or text={row.user_id} />],
                [logs.requestId, <Or text={row.request_id} />],
                [logs.userAgent, <Or text={row.user_agent} />],
              ]}
            />
          </>
        )}
        empty={<NoRows icon={<Key />} filters={filters} />}
      />
    </>
  );
}

/** The name as it was typed. A name that nobody has is marked: somebody guesses, or mistypes. */
function Who({ row }: { readonly row: AdminLoginLog }): ReactNode {
  const { logins } = useTexts();
  if (row.user_id !== null) return <UserLink uid={row.user_id} name={row.login_name} />;
  return (
    <span className="badges">
      <bdi>
        <Or text={row.login_name} />
      </bdi>
      <span className="badge plain">{logins.noAccount}</span>
    </span>
  );
}
