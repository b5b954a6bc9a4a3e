import { type ReactNode, useRef, useState } from 'react';
import type { AdminEvent } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { fill } from '../../i18n/texts';
import { admin } from '../client';
import { useFilters } from '../filters';
import { useTexts } from '../i18n/texts';
import { Dialog } from '../parts/dialog';
import { At, UserLink } from '../parts/facts';
import { SelectField } from '../parts/fields';
import { Send } from '../parts/icons';
import { List } from '../parts/list';
import { instant, NoRows } from '../parts/log-filters';
import { PageHead } from '../parts/page-head';
import { RowButton } from '../parts/row-button';
import type { Column } from '../parts/table';
import { say } from '../toasts';
import { useRows } from '../use-loaded';
import { useViewer } from '../viewer';

const statuses = ['waiting', 'sent', 'dead', 'replayed'] as const;
const looks = { waiting: '', sent: 'good', dead: 'bad', replayed: 'plain' } as const;

/** The events of the webhook, without their payload. Those that were sent or given up can be sent again. */
export function EventsPage(): ReactNode {
  const { events: texts, users, logs } = useTexts();
  const filters = useFilters(['status']);
  const { writes } = useViewer();
  const status = statuses.find((one) => one === filters.values.status);
  const rows = useRows(admin.events(status === undefined ? {} : { status }), filters.key);
  const [asking, setAsking] = useState<AdminEvent | 'replay'>();
  const finished = (text: string) => {
    say(text);
    rows.reload();
  };
  const columns: Column<AdminEvent>[] = [
    { heading: texts.type, cell: ({ type }) => type, kind: 'main' },
    {
      heading: users.columns.status,
      cell: (event) => <span className={`badge ${looks[event.status]}`}>{texts.statuses[event.status]}</span>,
    },
    { heading: logs.user, cell: (event) => <UserLink uid={event.user_id} />, kind: 'quiet' },
    { heading: texts.created, cell: (event) => <At at={event.created_at} exact /> },
    { heading: texts.sent, cell: (event) => (event.sent_at === null ? '–' : <At at={event.sent_at} />), kind: 'quiet' },
    {
      heading: logs.action,
      kind: 'end',
      cell: (event) =>
        writes &&
        event.status === 'dead' &&
        event.has_payload && <RowButton text={texts.retry} of={event.type} onClick={() => setAsking(event)} />,
    },
  ];
  return (
    <>
      <PageHead title={texts.title} intro={texts.intro}>
        {writes && (
          <button type="button" className="secondary small" onClick={() => setAsking('replay')}>
            {texts.replay}
          </button>
        )}
      </PageHead>
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
      {asking === 'replay' && <ReplayDialog onDone={finished} onClose={() => setAsking(undefined)} />}
      {asking !== undefined && asking !== 'replay' && (
        <Dialog
          title={texts.ask}
          action={texts.retry}
          run={() => admin.retryEvent(asking.id)}
          onDone={() => finished(texts.retried)}
          onClose={() => setAsking(undefined)}
        >
          <p>{texts.effect}</p>
        </Dialog>
      )}
    </>
  );
}

interface ReplayDialogProps {
  readonly onDone: (text: string) => void;
  readonly onClose: () => void;
}

function ReplayDialog({ onDone, onClose }: ReplayDialogProps): ReactNode {
  const { events: texts, logs } = useTexts();
  const [first, setFirst] = useState('');
  const [end, setEnd] = useState('');
  const queued = useRef(0);
  const [from, to] = [instant(first), instant(end)];
  return (
    <Dialog
      title={texts.replayAsk}
      action={texts.replay}
      filled={from !== '' && to !== ''}
      run={async () => {
        queued.current = (await admin.replayEvents({ from, to })).queued;
      }}
      onDone={() => onDone(fill(texts.replayed, { queued: queued.current }))}
      onClose={onClose}
    >
      <p>{texts.replayEffect}</p>
      <Field label={logs.from} type="datetime-local" value={first} onChange={setFirst} />
      <Field label={logs.to} type="datetime-local" value={end} onChange={setEnd} />
    </Dialog>
  );
}
