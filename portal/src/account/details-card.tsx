import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { useSpeech } from '../i18n/texts';
import { Panel } from './panel';

/** The name and the address of the user. */
export function DetailsCard({ me }: { readonly me: MeResponse }): ReactNode {
  const { t } = useSpeech();
  const { fields } = t.account;
  const rows: (readonly [string, string | null])[] = [
    [fields.login_name, me.login_name],
    [fields.nickname, me.nickname],
    [fields.email, me.email],
    [fields.role, me.is_admin ? t.account.admin : null],
  ];
  return (
    <Panel id="profile" title={t.account.profile}>
      <dl>
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </Panel>
  );
}
