import type { ReactNode } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { At } from '../parts/facts';
import { EntryList } from '../parts/entry-list';
import { Send } from '../parts/icons';
import type { Column } from '../parts/table';
import { eventReceiverHref } from '../place';
import { StateBadge, Waiting } from '../receivers/stream-card';
import { useRows } from '../use-loaded';

/** The other systems that get events, and how far each of them is. */
export function EventReceiversPage(): ReactNode {
  const { receivers: texts, users } = useTexts();
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
  return <EntryList of={rows} texts={texts} icon={<Send />} newPage="/event-receivers/new" columns={columns} />;
}
