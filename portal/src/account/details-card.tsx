import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { breakable } from '../components/breakable';
import { fill, useSpeech } from '../i18n/texts';
import { useTexts } from './i18n/texts';
import { useInstallation } from './installation';
import { Panel } from './panel';
import { useProvider } from './provider';

/** What the account is, and who can change it. */
export function DetailsCard({ me }: { readonly me: MeResponse }): ReactNode {
  const { t } = useSpeech();
  const { details: texts } = useTexts();
  const { directory, brand } = useInstallation();
  const provider = useProvider(me);
  const { fields } = t.account;
  const elsewhere = me.identity_provider_name ?? undefined;
  const kind = provider === 'password' || provider === 'ldap' ? texts.kinds[provider] : null;
  const rows: (readonly [string, string | null])[] = [
    [fields.nickname, me.nickname],
    [fields.login_name, me.login_name],
    [fields.email, me.email],
    [texts.kind, elsewhere === undefined ? null : fill(texts.kinds.oidc, { name: elsewhere })],
    // Where all accounts are of one kind, the kind says nothing.
    [texts.kind, directory && kind !== null ? fill(kind, { name: brand.name ?? t.product }) : null],
    [fields.role, me.is_admin ? t.account.admin : nameOf(me.role, t.account.roles)],
  ];
  return (
    <Panel id="profile" title={t.account.profile}>
      <dl>
        {rows.map(
          ([name, value]) =>
            value !== null && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{breakable(value)}</dd>
              </div>
            ),
        )}
      </dl>
      <p className="note">
        {provider === 'ldap' || provider === 'oidc' ? texts.fromCompany : texts.changedBy}{' '}
        {typeof brand.support_url === 'string' && <a href={brand.support_url}>{texts.help}</a>}
      </p>
    </Panel>
  );
}

/** Null for no role. A role without a text is shown itself. */
const nameOf = (role: string | null, names: Readonly<Record<string, string>>): string | null =>
  role === null ? null : (names[role] ?? role);
