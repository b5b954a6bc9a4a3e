import type { ReactNode } from 'react';
import type { AdminUser, UserFilters } from '@portal-auth/sdk/admin';
import { useSelection } from '../bulk/selection';
import { admin } from '../client';
import { given, useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { useKeptRows } from '../kept-rows';
import { type Status, statuses, UserBadges } from '../parts/badges';
import { useColumns } from '../parts/column-choice';
import { At, Or } from '../parts/facts';
import { SelectField, TypedFilter } from '../parts/fields';
import { People, Plus } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import { TenantFilter } from '../parts/tenant-field';
import { hrefOf, userHref } from '../place';
import { useViewer } from '../viewer';

const names = ['query', 'status', 'locked', 'tenant_id', 'sort'] as const;

const sorts = ['login_name', '-login_name', 'created_at', '-created_at', 'last_login_at', '-last_login_at'] as const;

/** Columns of who has not chosen any. */
const usualColumns = ['status', 'tenant', 'last_login'];

/** Finds users while the administrator types. */
export function UsersPage(): ReactNode {
  const { users: texts } = useTexts();
  const { root, writes } = useViewer();
  const filters = useFilters(names);
  const { query, status, locked, tenant_id } = filters.values;
  // A link of somebody else can have any text.
  const sort = sorts.find((one) => one === filters.values.sort);
  const list = admin.users({
    ...given({ query, tenant_id }),
    ...(statuses.includes(status as Status) && { status: Number(status) as UserFilters['status'] }),
    ...(sort !== undefined && { sort }),
    ...((locked === 'true' || locked === 'false') && { locked: locked === 'true' }),
  });
  const rows = useKeptRows(list, filters.key);
  const selection = useSelection(list, rows, filters.key);
  const order = { value: sort ?? '', set: (value: string) => filters.set('sort', value) };
  const { columns, choice } = useColumns<AdminUser>(
    'users',
    [
      { heading: texts.columns.user, cell: (user) => <Name user={user} />, kind: 'main', sort: 'login_name' },
      { id: 'status', heading: texts.columns.status, cell: (user) => <UserBadges user={user} /> },
      { id: 'provider', heading: texts.columns.provider, cell: (user) => texts.providers[user.provider] },
      ...(root
        ? [
            {
              id: 'tenant',
              heading: texts.columns.tenant,
              cell: (user: AdminUser) => user.tenant_id,
              kind: 'quiet' as const,
            },
          ]
        : []),
      {
        id: 'created',
        heading: texts.columns.created,
        cell: (user) => <At at={user.created_at} />,
        sort: 'created_at',
      },
      {
        ...{ id: 'last_login', heading: texts.columns.lastLogin, sort: 'last_login_at' },
        cell: (user) => <At at={user.last_login_at} />,
      },
    ],
    usualColumns,
  );
  return (
    <>
      <PageHead title={texts.title}>
        {writes && (
          <>
            <a className="secondary small" href={hrefOf('/users/import')}>
              {texts.import}
            </a>
            <a className="primary small" href={hrefOf('/users/new')}>
              <Plus />
              {texts.create}
            </a>
          </>
        )}
      </PageHead>
      <FilterBar any={filters.any}>
        <TypedFilter
          label={texts.search}
          placeholder={texts.searchHint}
          value={query}
          onChange={(value) => filters.set('query', value)}
          type="search"
          search
        />
        <SelectField
          label={texts.columns.status}
          value={status}
          options={[['', texts.all], ...statuses.map((one) => [one, texts.status[one]] as const)]}
          onChange={(value) => filters.set('status', value)}
        />
        <SelectField
          label={texts.lock}
          value={locked}
          options={[
            ['', texts.all],
            ['true', texts.locked],
            ['false', texts.notLocked],
          ]}
          onChange={(value) => filters.set('locked', value)}
        />
        {root && <TenantFilter value={tenant_id} onChange={(value) => filters.set('tenant_id', value)} />}
        <div className="order-field">
          <SelectField
            label={texts.order}
            value={sort ?? ''}
            options={[['', texts.usualOrder], ...sorts.map((one) => [one, texts.orders[one]] as const)]}
            onChange={order.set}
          />
        </div>
        {choice}
      </FilterBar>
      <List
        of={rows}
        caption={texts.title}
        columns={writes ? [selection.column, ...columns] : columns}
        order={order}
        keyOf={({ uid }) => uid}
        empty={
          <EmptyState
            icon={<People />}
            title={filters.any ? texts.noMatch : texts.empty}
            text={filters.any ? texts.noMatchHint : texts.emptyHint}
          >
            {filters.any && (
              <button type="button" className="secondary" onClick={filters.clear}>
                {texts.clear}
              </button>
            )}
          </EmptyState>
        }
      />
      {writes && selection.bar}
    </>
  );
}

function Name({ user }: { readonly user: AdminUser }): ReactNode {
  return (
    <div className="user-name">
      <span className="avatar" aria-hidden="true">
        {[...(user.nickname ?? user.login_name)][0]?.toLocaleUpperCase()}
      </span>
      <div>
        <a className="row-link" href={userHref(user.uid)}>
          {user.nickname ?? user.login_name}
        </a>
        <p className="note">
          {user.nickname === null ? (
            <Or text={user.email} />
          ) : (
            [user.login_name, user.email].filter(Boolean).join(' · ')
          )}
        </p>
      </div>
    </div>
  );
}
