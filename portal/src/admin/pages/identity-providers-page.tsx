import type { ReactNode } from 'react';
import type { AdminIdentityProvider } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EnabledBadge } from '../parts/badges';
import { EntryList } from '../parts/entry-list';
import { Building } from '../parts/icons';
import type { Column } from '../parts/table';
import { identityProviderHref } from '../place';
import { useRows } from '../use-loaded';

/** Where the people of companies sign in. */
export function IdentityProvidersPage(): ReactNode {
  const { identityProviders: texts, applications, users } = useTexts();
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
  return <EntryList of={rows} texts={texts} icon={<Building />} newPage="/identity-providers/new" columns={columns} />;
}
