import type { ReactNode } from 'react';
import type { AdminEventReceiver } from '@portal-auth/sdk/admin';
import { fill, useSpeech } from '../../i18n/texts';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { At, Copied, Facts, Or } from '../parts/facts';
import { Refresh } from '../parts/icons';
import { stateOf } from './receiver';

/** A number of events has this limit: the service counts no further. */
const countedEvents = 100_000;

export function Waiting({ of: { waiting } }: { readonly of: AdminEventReceiver }): ReactNode {
  const { language } = useSpeech();
  const number = new Intl.NumberFormat(language).format(waiting);
  return waiting < countedEvents ? number : `≥ ${number}`;
}

export function StateBadge({ of: receiver }: { readonly of: AdminEventReceiver }): ReactNode {
  const { receivers: texts } = useTexts();
  const state = stateOf(receiver);
  return (
    <span className={`badge ${{ sends: 'good', fails: 'bad', paused: 'warn' }[state]}`}>{texts.states[state]}</span>
  );
}

interface StreamCardProps {
  readonly receiver: AdminEventReceiver;
  readonly onRefresh: () => void;
}

/** How far the receiver has got: what waits, its last answers, and what it did not take. */
export function StreamCard({ receiver, onRefresh }: StreamCardProps): ReactNode {
  const { receivers: texts, overview } = useTexts();
  const { stream } = texts;
  const { last_error: error, last_set_aside: aside, old_secret_expires_at: old } = receiver;
  const minutes = Math.ceil(receiver.oldest_waiting_seconds / 60);
  return (
    <Card
      title={stream.title}
      note={texts.stateHints[stateOf(receiver)]}
      action={
        <button type="button" className="secondary small" onClick={onRefresh}>
          <Refresh />
          {overview.refresh}
        </button>
      }
    >
      <Facts
        facts={[
          [stream.waiting, <Waiting of={receiver} />],
          ...(minutes === 0 ? [] : [[stream.oldest, fill(stream.minutes, { minutes })] as const]),
          [stream.lastSuccess, <At at={receiver.last_success_at} />],
          ...(receiver.failing_since === null
            ? []
            : ([
                [stream.failingSince, <At at={receiver.failing_since} />],
                [stream.nextAttempt, <At at={receiver.next_attempt_at} />],
              ] as const)),
          [
            stream.lastError,
            error === null ? (
              <Or text={null} />
            ) : (
              <>
                {error} (<At at={receiver.last_error_at} />)
              </>
            ),
          ],
          [stream.setAside, receiver.set_aside],
          ...(aside === null
            ? []
            : [[stream.lastSetAside, <Copied text={aside} what={stream.lastSetAside} />] as const]),
          ...(old === null ? [] : [[stream.oldSecret, <At at={old} />] as const]),
        ]}
      />
    </Card>
  );
}
