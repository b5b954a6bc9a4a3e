import { type ReactNode, useState } from 'react';
import type { AdminMail } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { At } from '../parts/facts';
import { SelectField } from '../parts/fields';
import { Send } from '../parts/icons';
import { List } from '../parts/list';
import { NoRows } from '../parts/log-filters';
import { PageHead } from '../parts/page-head';
import { RowButton } from '../parts/row-button';
import type { Column } from '../parts/table';
import { say } from '../toasts';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const statuses = ['waiting', 'sent', 'dead', 'expired', 'skipped'] as const;
const looks = { waiting: '', sent: 'good', dead: 'bad', expired: 'warn', skipped: 'plain' } as const;

/** The outgoing mails, without their content. A mail that was given up can be sent again. */
export function MailsPage(): ReactNode {
  const { mails: texts, users, logs } = useTexts();
  const filters = useFilters(['status']);
  const { role } = useViewer();
  const status = statuses.find((one) => one === filters.values.status);
  const rows = useRows(admin.mails(status === undefined ? {} : { status }), filters.key);
  const [asking, setAsking] = useState<AdminMail>();
  const nameOf = (kind: string): string => (texts.kinds as Record<string, string>)[kind] ?? kind;
  const columns: Column<AdminMail>[] = [
    { heading: texts.kind, cell: (mail) => nameOf(mail.kind), kind: 'main' },
    {
      heading: users.columns.status,
      cell: (mail) => <span className={`badge ${looks[mail.status]}`}>{texts.statuses[mail.status]}</span>,
    },
    { heading: texts.attempts, cell: (mail) => mail.attempts, kind: 'number' },
    { heading: texts.created, cell: (mail) => <At at={mail.created_at} /> },
    // Only a mail that waits has another attempt, and usually none waits.
    ...(rows.rows?.some((mail) => mail.status === 'waiting')
      ? [
          {
            heading: texts.next,
            cell: (mail: AdminMail) => (mail.status === 'waiting' ? <At at={mail.next_attempt_at} /> : '–'),
            kind: 'quiet' as const,
          },
        ]
      : []),
    { heading: texts.expires, cell: (mail) => <At at={mail.expires} />, kind: 'quiet' },
    {
      heading: logs.action,
      kind: 'end',
      cell: (mail) =>
        role !== 'auditor' &&
        mail.status === 'dead' && (
          <RowButton text={texts.retry} of={nameOf(mail.kind)} onClick={() => setAsking(mail)} />
        ),
    },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro} />
      <div className="filters" role="search" aria-label={users.filters}>
        <SelectField
          label={users.columns.status}
          value={status ?? ''}
          options={[['', users.all], ...statuses.map((one) => [one, texts.statuses[one]] as const)]}
          onChange={(value) => filters.set('status', value)}
        />
      </div>
      <List
        of={rows}
        caption={texts.title}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<NoRows icon={<Send />} filters={filters} />}
      />
      {asking !== undefined && (
        <Dialog
          title={texts.ask}
          action={texts.retry}
          run={() => admin.retryMail(asking.id)}
          onDone={() => {
            say(texts.retried);
            rows.reload();
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>{texts.effect}</p>
        </Dialog>
      )}
    </>
  );
}
