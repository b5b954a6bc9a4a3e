import type { ReactNode } from 'react';
import type { AdminIdentityProvider } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EnabledBadge } from '../parts/badges';
import { Building, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { hrefOf, identityProviderHref } from '../place';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

/** Where the people of companies sign in. */
export function IdentityProvidersPage(): ReactNode {
  const { identityProviders: texts, applications, users } = useTexts();
  const { writes } = useViewer();
  const rows = useRows(admin.identityProviders());
  const columns: Column<AdminIdentityProvider>[] = [
    {
      heading: applications.fields.name,
      cell: ({ id, name }) => (
        <a className="row-link" href={identityProviderHref(id)}>
          {name}
        </a>
      ),
      kind: 'main',
    },
    { heading: texts.fields.issuer, cell: ({ issuer }) => issuer },
    { heading: texts.boundUsers, cell: ({ bound_users }) => bound_users },
    { heading: users.columns.status, cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
  ];
  const create = writes && (
    <a className="primary small with-icon" href={hrefOf('/identity-providers/new')}>
      <Plus />
      {texts.create}
    </a>
  );
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        {rows.rows?.length !== 0 && create}
      </PageHead>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <EmptyState icon={<Building />} title={texts.empty} text={texts.emptyHint}>
            {create}
          </EmptyState>
        }
      />
    </>
  );
}
