import type { ReactNode } from 'react';
import type { AdminApplication } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EnabledBadge } from '../parts/badges';
import { Apps, Plus } from '../parts/icons';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { applicationHref, hrefOf } from '../place';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

/** The applications whose users sign in here. */
export function ApplicationsPage(): ReactNode {
  const { applications: texts, users, user } = useTexts();
  const { writes } = useViewer();
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
  const create = writes && (
    <a className="primary small with-icon" href={hrefOf('/applications/new')}>
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
          <EmptyState icon={<Apps />} title={texts.empty} text={texts.emptyHint}>
            {create}
          </EmptyState>
        }
      />
    </>
  );
}
