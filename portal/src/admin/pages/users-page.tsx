import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import type { AdminUser, UserFilters } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { given, useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { type Status, statuses, UserBadges } from '../parts/badges';
import { At, Or } from '../parts/facts';
import { SelectField, TypedFilter } from '../parts/fields';
import { People, Plus } from '../parts/icons';
import { FilterBar } from '../parts/filter-bar';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { TenantFilter } from '../parts/tenant-field';
import { hrefOf, userHref } from '../place';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const names = ['query', 'status', 'locked', 'tenant_id'] as const;

/** Finds users while the administrator types. */
export function UsersPage(): ReactNode {
  const { users: texts } = useTexts();
  const { root } = useViewer();
  const filters = useFilters(names);
  const { query, status, locked, tenant_id } = filters.values;
  const list = admin.users({
    ...given({ query, tenant_id }),
    ...(statuses.includes(status as Status) && { status: Number(status) as UserFilters['status'] }),
    ...((locked === 'true' || locked === 'false') && { locked: locked === 'true' }),
  });
  const rows = useRows(list, filters.key);
  const page = useRef<HTMLDivElement>(null);
  useSlashKey(page);

  const columns: Column<AdminUser>[] = [
    { heading: texts.columns.user, cell: (user) => <Name user={user} />, kind: 'main' },
    { heading: texts.columns.status, cell: (user) => <UserBadges user={user} /> },
    ...(root
      ? [{ heading: texts.columns.tenant, cell: (user: AdminUser) => user.tenant_id, kind: 'quiet' as const }]
      : []),
    { heading: texts.columns.lastLogin, cell: (user) => <At at={user.last_login_at} /> },
  ];
  return (
    <div ref={page} onKeyDown={(event) => moveAmongRows(event, page.current)}>
      <PageHead title={texts.title}>
        <a className="primary small" href={hrefOf('/users/new')}>
          <Plus />
          {texts.create}
        </a>
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
      </FilterBar>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
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
    </div>
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

/** The arrow keys lead from the search to the rows and through them. */
function moveAmongRows(event: KeyboardEvent, page: HTMLElement | null): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const { activeElement: active } = document;
  const inSearch = active instanceof HTMLInputElement && active.type === 'search';
  if (step === undefined || page === null || !(inSearch || active?.matches('.row-link'))) return;
  const stops = [...page.querySelectorAll<HTMLElement>('input[type=search], .row-link')];
  const next = stops[stops.indexOf(active as HTMLElement) + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

/** `/` moves the focus to the search, as in most consoles. */
function useSlashKey(page: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      const typing = (event.target as Element | null)?.closest('input, select, textarea, dialog') != null;
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing) return;
      event.preventDefault();
      page.current?.querySelector<HTMLInputElement>('input[type=search]')?.focus();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [page]);
}
