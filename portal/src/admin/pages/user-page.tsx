import { type ReactNode, useState } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { issuerUrl } from '../../page-settings';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { UserBadges } from '../parts/badges';
import { Card } from '../parts/card';
import { PageHead } from '../parts/page-head';
import { EmptyState, ErrorState, LoadingState } from '../parts/states';
import { go, hrefOf } from '../place';
import { say, type Toast } from '../toasts';
import { useLoaded } from '../use-loaded';
import { useViewer } from '../viewer';
import { Actions } from '../user/actions';
import { DevicesCard } from '../user/devices-card';
import { GroupsCard } from '../user/groups-card';
import { LoginsCard } from '../user/logins-card';
import { LogoutsCard } from '../user/logouts-card';
import { PasskeysCard } from '../user/passkeys-card';
import { ProfileCard } from '../user/profile-card';
import { SecurityCard } from '../user/security-card';
import { SessionsCard } from '../user/sessions-card';

/** One user, and everything that an administrator can do about it. */
export function UserPage({ uid }: { readonly uid: string }): ReactNode {
  const { users, user: texts } = useTexts();
  const { writes } = useViewer();
  const { value, error, reload } = useLoaded((signal) => admin.user(uid, { signal }), uid);
  const [changes, setChanges] = useState(0);
  const [gone, setGone] = useState<string>();
  const up = { href: hrefOf('/users'), text: users.title };
  const reread = () => {
    setChanges((count) => count + 1);
    reload();
  };
  const changed = (text: string, undo?: Toast['undo']) => {
    say(text, undo && (() => undo().finally(reread)));
    reread();
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
      <ErrorState error={error} retry={reload} />
      <div className="columns">
        <div className="column">
          <ProfileCard user={value} onChanged={() => changed(texts.saved)} />
          <GroupsCard user={value} />
          <SecurityCard user={value} />
          {value.passkeys > 0 && <PasskeysCard key={`passkeys ${changes}`} user={value} onDone={changed} />}
          <SessionsCard key={`sessions ${changes}`} user={value} onDone={changed} />
          {value.devices > 0 && <DevicesCard key={`devices ${changes}`} user={value} onDone={changed} />}
          {issuerUrl !== '' && <LogoutsCard key={`logouts ${changes}`} user={value} />}
          <LoginsCard user={value} />
        </div>
        <div className="column">
          <Card title={texts.actions}>
            <Actions user={value} kind="usual" onDone={changed} onDeleted={setGone} />
          </Card>
          {writes && (
            <Card title={texts.danger} danger>
              <Actions user={value} kind="danger" onDone={changed} onDeleted={setGone} />
            </Card>
          )}
        </div>
      </div>
    </>
  );
}

const nameOf = ({ nickname, login_name }: AdminUserDetail): string => nickname ?? login_name;

const introOf = ({ nickname, login_name, email }: AdminUserDetail): string =>
  [nickname === null ? null : login_name, email].filter(Boolean).join(' · ');
