import type { ReactNode } from 'react';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EnabledBadge } from '../parts/badges';
import { EntryList } from '../parts/entry-list';
import { Apps } from '../parts/icons';
import type { Column } from '../parts/table';
import { applicationHref } from '../place';
import { useRows } from '../use-loaded';

/** The applications whose users sign in here. */
export function ApplicationsPage(): ReactNode {
  const { applications: texts, users, user } = useTexts();
  const rows = useRows(admin.applications());
  const columns: Column<AdminApplication>[] = [
    {
      heading: texts.fields.name,
      cell: ({ id, name }) => (
        <a className="row-link" href={applicationHref(id)}>
          {name}
        </a>
      ),
      kind: 'main',
    },
    { heading: texts.fields.type, cell: ({ type }) => texts.types[type].label },
    { heading: texts.columns.firstParty, cell: ({ first_party }) => (first_party ? user.yes : user.no) },
    {
      heading: users.columns.status,
      cell: ({ enabled }) => <EnabledBadge enabled={enabled} />,
    },
  ];
  return <EntryList of={rows} texts={texts} icon={<Apps />} newPage="/applications/new" columns={columns} />;
}
