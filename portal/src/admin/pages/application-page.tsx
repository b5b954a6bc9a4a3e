import { type ReactNode, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { Message } from '../../components/message';
import { ApplicationActions } from '../applications/actions';
import { hasUsers } from '../applications/application';
import { admin } from '../client';
import { DetailsCard } from '../applications/details-card';
import { FreshSecret, takeSecret } from '../applications/fresh-secret';
import { SettingsCard } from '../applications/settings-card';
import { TryCard } from '../applications/try-card';
import { useTexts } from '../i18n/texts';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import { go, hrefOf } from '../place';
import { useLoaded } from '../use-loaded';
import { EnabledBadge } from './applications-page';

/** One application: the settings to copy, everything that the service knows about it, and what can be done to it. */
export function ApplicationPage({ id }: { readonly id: string }): ReactNode {
  const { applications: texts } = useTexts();
  const { value, error, reload } = useLoaded((signal) => admin.application(id, { signal }), id);
  const [secret, setSecret] = useState(() => takeSecret(id));
  const [done, setDone] = useState<string>();
  const [changes, setChanges] = useState(0);
  const [gone, setGone] = useState<string>();
  const up = { href: hrefOf('/applications'), text: texts.title };
  const changed = (text: string, fresh?: string) => {
    // The message about a new secret has the focus then, and says what was done.
    setDone(fresh === undefined ? text : undefined);
    if (fresh !== undefined) setSecret(fresh);
    setChanges((count) => count + 1);
    reload();
  };
  const missing = error instanceof ServiceError && error.code === 'USER_404001';
  if (gone !== undefined || missing)
    return (
      <EmptyState title={gone === undefined ? texts.missing : texts.deleted} text={gone ?? texts.missingHint} heading>
        <button type="button" className="primary" onClick={() => go(up.href)}>
          {texts.back}
        </button>
      </EmptyState>
    );
  if (value === undefined)
    return (
      <>
        <PageHead title={texts.one} up={up} />
        {error === undefined ? <LoadingState lines={8} /> : <ErrorState error={error} retry={reload} />}
      </>
    );
  return (
    <>
      <PageHead
        title={value.name}
        up={up}
        badges={<EnabledBadge enabled={value.enabled} />}
        intro={texts.types[value.type].label}
      />
      {done !== undefined && (
        <Message key={changes} kind="success" focused>
          {done}
        </Message>
      )}
      <ErrorState error={error} retry={reload} />
      <div className="columns">
        <div className="column">
          {secret !== undefined && (
            <FreshSecret
              key={secret}
              secret={secret}
              onStored={() => {
                setSecret(undefined);
                setDone(texts.secret.gone);
                setChanges((count) => count + 1);
              }}
            />
          )}
          <SettingsCard application={value} secret={secret} />
          <DetailsCard application={value} onSaved={() => changed(texts.saved)} />
          {hasUsers(value.type) && <TryCard application={value} />}
        </div>
        <div className="column">
          <ApplicationActions application={value} onDone={changed} onDeleted={setGone} />
        </div>
      </div>
    </>
  );
}
