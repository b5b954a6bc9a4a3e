import { type ReactNode, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { Message } from '../../components/message';
import { issuerUrl } from '../../page-settings';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { UserBadges } from '../parts/badges';
import { Card } from '../parts/card';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import { go, hrefOf } from '../place';
import { useLoaded } from '../use-loaded';
import { Actions } from '../user/actions';
import { LoginsCard } from '../user/logins-card';
import { LogoutsCard } from '../user/logouts-card';
import { PasskeysCard } from '../user/passkeys-card';
import { ProfileCard } from '../user/profile-card';
import { SecurityCard } from '../user/security-card';
import { SessionsCard } from '../user/sessions-card';

/** One user, and everything that an administrator can do about it. */
export function UserPage({ uid }: { readonly uid: string }): ReactNode {
  const { users, user: texts } = useTexts();
  const { value, error, reload } = useLoaded((signal) => admin.user(uid, { signal }), uid);
  const [done, setDone] = useState<string>();
  const [changes, setChanges] = useState(0);
  const [gone, setGone] = useState<string>();
  const up = { href: hrefOf('/users'), text: users.title };
  const changed = (text: string) => {
    setDone(text);
    setChanges((count) => count + 1);
    reload();
  };

  if (gone !== undefined)
    return (
      <EmptyState title={texts.deleted} text={gone} heading>
        <a className="primary" href={up.href}>
          {texts.back}
        </a>
      </EmptyState>
    );
  if (error instanceof ServiceError && error.code === 'USER_404001')
    return (
      <EmptyState title={texts.missing} text={texts.missingHint} heading>
        <button type="button" className="primary" onClick={() => go(up.href)}>
          {texts.back}
        </button>
      </EmptyState>
    );
  if (value === undefined)
    return (
      <>
        <PageHead title={texts.title} up={up} />
        {error === undefined ? <LoadingState lines={8} /> : <ErrorState error={error} retry={reload} />}
      </>
    );
  return (
    <>
      <PageHead title={nameOf(value)} up={up} badges={<UserBadges user={value} />} intro={introOf(value)} />
      {done !== undefined && (
        <Message key={changes} kind="success" focused>
          {done}
        </Message>
      )}
      <ErrorState error={error} retry={reload} />
      <div className="columns">
        <div className="column">
          <ProfileCard user={value} onChanged={() => changed(texts.saved)} />
          <SecurityCard user={value} />
          {value.passkeys > 0 && <PasskeysCard key={`passkeys ${changes}`} user={value} onDone={changed} />}
          <SessionsCard key={`sessions ${changes}`} user={value} />
          {issuerUrl !== '' && <LogoutsCard key={`logouts ${changes}`} user={value} />}
          <LoginsCard user={value} />
        </div>
        <div className="column">
          <Card title={texts.actions}>
            <Actions user={value} kind="usual" onDone={changed} onDeleted={setGone} />
          </Card>
          <Card title={texts.danger} danger>
            <Actions user={value} kind="danger" onDone={changed} onDeleted={setGone} />
          </Card>
        </div>
      </div>
    </>
  );
}

const nameOf = ({ nickname, login_name }: AdminUserDetail): string => nickname ?? login_name;

const introOf = ({ nickname, login_name, email }: AdminUserDetail): string =>
  [nickname === null ? null : login_name, email].filter(Boolean).join(' · ');
