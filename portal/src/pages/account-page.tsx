import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { auth, useAuth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

export function AccountPage(): ReactNode {
  const { t } = useSpeech();
  const { tabOnly } = useAuth();
  const [me, setMe] = useState<MeResponse>();
  const load = useTask(async () => setMe(await auth.me()));
  const logout = useTask(() => auth.logout());
  const { run } = load;
  useEffect(() => void run(), [run]);

  // Clears the history state, which survives a reload, so that a reload does not show the message again.
  const [confirmed] = useState(() => history.state === 'confirmed');
  useEffect(() => {
    if (confirmed) history.replaceState(null, '');
  }, [confirmed]);

  return (
    <Page
      title={me === undefined ? t.account.title : fill(t.account.hello, { name: me.nickname ?? me.login_name })}
      wide
    >
      {confirmed && <Message kind="success">{t.account.confirmed}</Message>}
      {tabOnly && <Message kind="info">{t.account.tabOnly}</Message>}
      <Failure error={load.error} />
      {me !== undefined && <Details me={me} />}
      {me === undefined && load.busy && <p role="status">{t.account.loading}</p>}
      <div className="actions">
        {load.error !== undefined && (
          <button type="button" className="primary" disabled={load.busy} onClick={() => void run()}>
            {t.account.retry}
          </button>
        )}
        <button type="button" className="secondary" disabled={logout.busy} onClick={() => void logout.run()}>
          {t.account.logout}
        </button>
      </div>
    </Page>
  );
}

function Details({ me }: { readonly me: MeResponse }): ReactNode {
  const { t, language } = useSpeech();
  const { fields, amr } = t.account;
  const methods = me.session.amr.map((name) => (name in amr ? amr[name] : name));
  const rows: (readonly [string, string | null])[] = [
    [fields.login_name, me.login_name],
    [fields.nickname, me.nickname],
    [fields.email, me.email],
    [fields.role, me.is_admin ? t.account.admin : null],
  ];
  return (
    <div className="panels">
      <section className="panel" aria-labelledby="profile">
        <h2 id="profile">{t.account.profile}</h2>
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
      </section>
      <section className="panel" aria-labelledby="security">
        <h2 id="security">{t.account.security}</h2>
        <p>{fill(t.account.signedInWith, { methods: new Intl.ListFormat(language).format(methods) })}</p>
        <p>{secondFactor(me, t.account)}</p>
        <Link className="secondary" href={paths.totp}>
          {me.mfa_type === 'totp' ? t.account.totpReplace : t.account.totpSetUp}
        </Link>
      </section>
    </div>
  );
}

/** Mentions mailed codes only if this login used one, because `mfa_type` is `email` even without a second factor. */
function secondFactor(me: MeResponse, texts: Readonly<Record<'totpOn' | 'mailed' | 'totpOff', string>>): string {
  if (me.mfa_type === 'totp') return texts.totpOn;
  return me.session.amr.includes('otp') ? texts.mailed : texts.totpOff;
}
