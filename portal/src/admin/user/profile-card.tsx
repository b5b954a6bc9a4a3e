import { type ReactNode, useEffect, useRef } from 'react';
import type { AdminUserDetail } from '@portal-auth/sdk/admin';
import { Copy } from '../../components/copy';
import { ownName } from '../../i18n/choose-language';
import { useOffer } from '../../offer';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { At, Facts, Or } from '../parts/facts';
import { useOpenForm } from '../use-draft';
import { mayChange, useViewer } from '../viewer';
import { ProfileForm } from './profile-form';

interface ProfileCardProps {
  readonly user: AdminUserDetail;
  readonly onChanged: () => void;
}

/** Who the user is, and a form to change it. */
export function ProfileCard({ user, onChanged }: ProfileCardProps): ReactNode {
  const { users, user: texts, list } = useTexts();
  const viewer = useViewer();
  const { identity_providers: listed } = useOffer();
  const { identity_provider: provider } = user;
  const kind =
    provider === null
      ? users.providers[user.provider]
      : `${users.providers.oidc}: ${listed.find(({ id }) => id === provider)?.name ?? provider}`;
  const [editing, setEditing] = useOpenForm('profile');
  const button = useRef<HTMLButtonElement>(null);
  const cancelled = useRef(false);
  // The form has taken the focus away with it. After a change, the message about it takes the focus.
  useEffect(() => {
    if (cancelled.current && !editing) button.current?.focus();
    cancelled.current = false;
  }, [editing]);
  return (
    <Card
      title={texts.profile}
      action={
        !editing &&
        mayChange(viewer, user) && (
          <button ref={button} type="button" className="secondary small" onClick={() => setEditing(true)}>
            {texts.edit}
          </button>
        )
      }
    >
      {editing ? (
        <ProfileForm
          user={user}
          onCancel={() => {
            cancelled.current = true;
            setEditing(false);
          }}
          onSaved={() => {
            setEditing(false);
            onChanged();
          }}
        />
      ) : (
        <Facts
          facts={[
            [users.fields.loginName, user.login_name],
            [users.fields.nickname, <Or text={user.nickname} />],
            [users.fields.email, <Or text={user.email} />],
            [users.fields.language, user.language === null ? users.unknownLanguage : ownName(user.language)],
            [users.columns.provider, kind],
            [users.columns.tenant, user.tenant_id],
            [users.fields.unit, <Or text={user.org_unit_id} />],
            [texts.created, <At at={user.created_at} />],
            [users.columns.lastLogin, <At at={user.last_login_at} />],
            ...(user.external_id === null ? [] : [[texts.externalId, <code>{user.external_id}</code>] as const]),
            ...(user.directory_id === null ? [] : [[texts.directoryId, <code>{user.directory_id}</code>] as const]),
            [
              texts.id,
              <span className="with-copy">
                <code>{user.uid}</code>
                <Copy text={user.uid} label={list.copy} />
              </span>,
            ],
          ]}
        />
      )}
    </Card>
  );
}
