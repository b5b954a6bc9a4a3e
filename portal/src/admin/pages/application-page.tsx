import { type ReactNode, useState } from 'react';
import { ApplicationActions } from '../applications/actions';
import { hasUsers } from '../applications/application';
import { DetailsCard } from '../applications/details-card';
import { SettingsCard } from '../applications/settings-card';
import { TryCard } from '../applications/try-card';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { EnabledBadge } from '../parts/badges';
import { EntryPage } from '../parts/entry-page';
import { FreshSecret, takeSecret } from '../parts/fresh-secret';
import { hrefOf } from '../place';
import { say } from '../toasts';
import { useViewer } from '../viewer';

/** One application: the settings to copy, everything that the service knows about it, and what can be done to it. */
export function ApplicationPage({ id }: { readonly id: string }): ReactNode {
  const { applications: texts } = useTexts();
  const { writes } = useViewer();
  const [secret, setSecret] = useState(() => takeSecret(id));
  return (
    <EntryPage
      id={id}
      load={(signal) => admin.application(id, { signal })}
      up={{ href: hrefOf('/applications'), text: texts.title }}
      texts={texts}
      head={({ name, enabled, type }) => ({
        title: name,
        badges: <EnabledBadge enabled={enabled} />,
        intro: texts.types[type].label,
      })}
    >
      {(application, frame) => (
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
            <SettingsCard application={application} secret={secret} />
            <DetailsCard application={application} onSaved={() => frame.changed(texts.saved)} />
            {hasUsers(application.type) && <TryCard application={application} />}
          </div>
          <div className="column">
            {writes && (
              <ApplicationActions
                application={application}
                onDone={(text, { secret: fresh, undo } = {}) => {
                  if (fresh !== undefined) setSecret(fresh);
                  // The message about a new secret has the focus then, and says what was done.
                  frame.changed(fresh === undefined ? text : undefined, undo);
                }}
                onDeleted={frame.deleted}
              />
            )}
          </div>
        </>
      )}
    </EntryPage>
  );
}
