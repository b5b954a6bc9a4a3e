import type { ReactNode } from 'react';
import type { AdminEffectiveSetting } from '@portal-auth/sdk/admin';
import { breakable } from '../../components/breakable';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { SelectField, TypedFilter } from '../parts/fields';
import { FilterBar } from '../parts/filter-bar';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import { type Column, Table } from '../parts/table';
import { hrefOf } from '../place';
import { useLoaded } from '../use-loaded';

const sources = ['environment', 'file', 'default', 'system_configs'] as const;

/** Every setting with its source. Those of `system_configs` lead to the page that changes them. */
export function AllSettingsPage(): ReactNode {
  const { allSettings: texts, users } = useTexts();
  const { value, error, reload } = useLoaded((signal) => admin.effectiveSettings({ signal }));
  const filters = useFilters(['find', 'source']);
  const source = sources.find((one) => one === filters.values.source);
  const find = filters.values.find.trim().toLowerCase();
  const rows = value?.filter(
    (row) =>
      (source === undefined || row.source === source) && `${row.key} ${row.value ?? ''}`.toLowerCase().includes(find),
  );
  const columns: Column<AdminEffectiveSetting>[] = [
    { heading: texts.key, cell: ({ key }) => <code>{breakable(key)}</code>, kind: 'main' },
    { heading: texts.value, cell: (row) => <Value row={row} /> },
    {
      heading: texts.source,
      cell: (row) => (
        <span className={`badge ${row.source === 'default' ? 'plain' : ''}`}>{texts.sources[row.source]}</span>
      ),
    },
    { heading: texts.documented, cell: ({ documented }) => <code>{breakable(documented)}</code>, kind: 'quiet' },
    {
      heading: texts.edit,
      kind: 'end',
      cell: ({ editable, key }) =>
        editable && (
          <a className="secondary small" href={hrefOf(pageOf(key))} aria-label={`${texts.edit}: ${key}`}>
            {texts.edit}
          </a>
        ),
    },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro} />
      <FilterBar any={filters.any}>
        <TypedFilter
          label={texts.find}
          placeholder={texts.findHint}
          search
          value={filters.values.find}
          onChange={(text) => filters.set('find', text)}
        />
        <SelectField
          label={texts.source}
          value={source ?? ''}
          options={[['', users.all], ...sources.map((one) => [one, texts.sources[one]] as const)]}
          onChange={(one) => filters.set('source', one)}
        />
      </FilterBar>
      <ErrorState error={error} retry={reload} />
      {rows === undefined && error === undefined && <LoadingState lines={10} />}
      {rows?.length === 0 && <EmptyState title={texts.noneFound} />}
      {rows !== undefined && rows.length > 0 && (
        <Table caption={texts.title} columns={columns} rows={rows} keyOf={({ key }) => key} />
      )}
    </>
  );
}

const pageOf = (key: string): string => (key.startsWith('SMTP ') ? '/settings/mail' : '/settings/password');

function Value({ row: { value, secret, set } }: { readonly row: AdminEffectiveSetting }): ReactNode {
  const { allSettings: texts } = useTexts();
  if (secret) return <span className="note">{set ? texts.set : texts.unset}</span>;
  return value === null ? texts.none : <span className="setting-value">{breakable(value)}</span>;
}
