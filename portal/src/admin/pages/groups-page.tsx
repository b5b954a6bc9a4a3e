import type { ReactNode } from 'react';
import type { AdminGroup } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { given, useFilters } from '../filters';
import { NewGroup } from '../groups/new-group';
import { useTexts } from '../i18n/texts';
import { usePageAction } from '../page-actions';
import { Card } from '../parts/card';
import { At } from '../parts/facts';
import { TypedFilter } from '../parts/fields';
import { FilterBar } from '../parts/filter-bar';
import { Groups, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { TenantFilter } from '../parts/tenant-field';
import { go, groupHref } from '../place';
import { useOpenForm } from '../use-draft';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const names = ['query', 'tenant_id'] as const;

/** The groups of users, by the beginning of their names. */
export function GroupsPage(): ReactNode {
  const { groups: texts, users, user } = useTexts();
  const { root, writes } = useViewer();
  const filters = useFilters(names);
  const rows = useRows(admin.groups(given(filters.values)), filters.key);
  const [creating, setCreating] = useOpenForm('new');
  const columns: Column<AdminGroup>[] = [
    {
      heading: texts.name,
      cell: ({ id, name }) => (
        <a className="row-link" href={groupHref(id)}>
          {name}
        </a>
      ),
      kind: 'main',
    },
    { heading: texts.owner, cell: (group) => <OwnerBadge group={group} /> },
    ...(root
      ? [{ heading: users.columns.tenant, cell: (group: AdminGroup) => group.tenant_id, kind: 'quiet' as const }]
      : []),
    { heading: user.created, cell: (group) => <At at={group.created_at} /> },
  ];
  usePageAction(texts.create, writes && !creating ? () => setCreating(true) : undefined);
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        {writes && !creating && (
          <button type="button" className="primary small" onClick={() => setCreating(true)}>
            <Plus />
            {texts.create}
          </button>
        )}
      </PageHead>
      {creating && (
        <div className="narrow">
          <Card title={texts.create}>
            <NewGroup onDone={({ id }) => go(groupHref(id))} onCancel={() => setCreating(false)} />
          </Card>
        </div>
      )}
      <FilterBar any={filters.any}>
        <TypedFilter
          label={texts.search}
          placeholder={texts.searchHint}
          value={filters.values.query}
          onChange={(value) => filters.set('query', value)}
          type="search"
          search
        />
        {root && (
          <TenantFilter value={filters.values.tenant_id} onChange={(value) => filters.set('tenant_id', value)} />
        )}
      </FilterBar>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            icon={<Groups />}
            title={filters.any ? texts.noMatch : texts.empty}
            text={filters.any ? texts.noMatchHint : texts.emptyHint}
          >
            {filters.any && (
              <button type="button" className="secondary" onClick={filters.clear}>
                {users.clear}
              </button>
            )}
          </EmptyState>
        }
      />
    </>
  );
}

/** Who owns the group: nobody else changes it. */
export function OwnerBadge({ group }: { readonly group: Pick<AdminGroup, 'source'> }): ReactNode {
  const { groups } = useTexts();
  return <span className={group.source === 'admin' ? 'badge' : 'badge plain'}>{groups.owners[group.source]}</span>;
}
