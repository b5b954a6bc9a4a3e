import { type ReactNode, useState } from 'react';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EntryPage } from '../parts/entry-page';
import { FreshSecret, takeSecret } from '../parts/fresh-secret';
import { hrefOf } from '../place';
import { ReceiverActions } from '../receivers/actions';
import { DetailsCard } from '../receivers/details-card';
import { StateBadge, StreamCard } from '../receivers/stream-card';
import { TryCard } from '../receivers/try-card';
import { say } from '../toasts';
import { useViewer } from '../viewer';

/** One receiver of events: how far it is, what was set for it, and what can be done to it. */
export function EventReceiverPage({ id }: { readonly id: string }): ReactNode {
  const { receivers: texts } = useTexts();
  const { writes } = useViewer();
  const [secret, setSecret] = useState(() => takeSecret(id));
  return (
    <EntryPage
      id={id}
      load={(signal) => admin.eventReceiver(id, { signal })}
      up={{ href: hrefOf('/event-receivers'), text: texts.title }}
      texts={texts}
      head={(receiver) => ({ title: receiver.id, badges: <StateBadge of={receiver} />, intro: receiver.url })}
    >
      {(receiver, frame) => (
        <>
          <div className="column">
            {secret !== undefined && (
              <FreshSecret
                key={secret}
                secret={secret}
                texts={texts.secret}
                onStored={() => {
                  setSecret(undefined);
                  say(texts.secret.gone);
                }}
              />
            )}
            <StreamCard receiver={receiver} onRefresh={() => frame.changed(undefined)} />
            <DetailsCard receiver={receiver} onSaved={() => frame.changed(texts.saved)} />
          </div>
          <div className="column">
            {writes && (
              <>
                <TryCard receiver={receiver} />
                <ReceiverActions
                  receiver={receiver}
                  onDone={(text, { secret: fresh, undo } = {}) => {
                    if (fresh !== undefined) setSecret(fresh);
                    // The message about a new secret has the focus then, and says what was done.
                    frame.changed(fresh === undefined ? text : undefined, undo);
                  }}
                  onDeleted={frame.deleted}
                />
              </>
            )}
          </div>
        </>
      )}
    </EntryPage>
  );
}
