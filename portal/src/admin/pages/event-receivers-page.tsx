import type { ReactNode } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { At } from '../parts/facts';
import { Plus, Send } from '../parts/icons';
import { List } from '../parts/list';
import { PageHead } from '../parts/page-head';
import { EmptyState } from '../parts/states';
import type { Column } from '../parts/table';
import { eventReceiverHref, hrefOf } from '../place';
import { StateBadge, Waiting } from '../receivers/stream-card';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

/** The other systems that get events, and how far each of them is. */
export function EventReceiversPage(): ReactNode {
  const { receivers: texts, users } = useTexts();
  const { writes } = useViewer();
  const rows = useRows(admin.eventReceivers());
  const columns: Column<AdminEventReceiver>[] = [
    {
      heading: texts.fields.id,
      cell: ({ id }) => (
        <a className="row-link" href={eventReceiverHref(id)}>
          {id}
        </a>
      ),
      kind: 'main',
    },
    { heading: texts.fields.url, cell: ({ url }) => url },
    { heading: users.columns.status, cell: (receiver) => <StateBadge of={receiver} /> },
    { heading: texts.stream.waiting, cell: (receiver) => <Waiting of={receiver} />, kind: 'number' },
    { heading: texts.stream.setAside, cell: ({ set_aside: count }) => count, kind: 'number' },
    { heading: texts.stream.lastSuccess, cell: ({ last_success_at: at }) => <At at={at} />, kind: 'quiet' },
  ];
  const create = writes && (
    <a className="primary small with-icon" href={hrefOf('/event-receivers/new')}>
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
          <EmptyState icon={<Send />} title={texts.empty} text={texts.emptyHint}>
            {create}
          </EmptyState>
        }
      />
    </>
  );
}
