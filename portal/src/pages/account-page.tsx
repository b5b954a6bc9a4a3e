import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

export function AccountPage(): ReactNode {
  const { t } = useSpeech();
  const [me, setMe] = useState<MeResponse>();
  const load = useTask(async () => setMe(await auth.me()));
  const logout = useTask(() => auth.logout());
  const { run } = load;
  useEffect(() => void run(), [run]);

  return (
    <Page
      title={me === undefined ? t.account.signedIn : fill(t.account.title, { name: me.nickname ?? me.login_name })}
      wide
    >
      {history.state === 'confirmed' && <Message kind="success">{t.account.confirmed}</Message>}
      <Failure error={load.error} />
      {me !== undefined && <Details me={me} />}
      {me === undefined && load.busy && <p role="status">{t.account.loading}</p>}
      <div className="actions">
        <button type="button" className="secondary" disabled={load.busy} onClick={() => void run()}>
          {load.error === undefined ? t.account.reload : t.account.retry}
        </button>
        <button type="button" className="primary" disabled={logout.busy} onClick={() => void logout.run()}>
          {t.account.logout}
        </button>
      </div>
    </Page>
  );
}

function Details({ me }: { readonly me: MeResponse }): ReactNode {
  const { t, language } = useSpeech();
  const { fields, yes, no, none, amr } = t.account;
  const time = (text: string) =>
    new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(text));
  const method = (name: string) => (name in amr ? amr[name as keyof typeof amr] : name);
  return (
    <div className="panels">
      <Panel
        title={t.account.profile}
        rows={[
          [fields.login_name, me.login_name],
          [fields.nickname, me.nickname ?? none],
          [fields.email, me.email ?? none],
          [fields.is_admin, me.is_admin ? yes : no],
          [fields.tenant_id, me.tenant_id],
          [fields.org_unit_id, me.org_unit_id ?? none],
        ]}
      />
      <Panel
        title={t.account.session}
        rows={[
          [fields.amr, me.session.amr.map(method).join(' + ')],
          [fields.issued_at, time(me.session.issued_at)],
          [fields.expires, time(me.session.expires)],
          [fields.sid, <code key="sid">{me.session.sid}</code>],
        ]}
        note={t.account.renewed}
      />
      <section className="panel" aria-labelledby="security">
        <h2 id="security">{t.account.security}</h2>
        <p>{me.mfa_type === 'totp' ? t.account.totpOn : t.account.totpOff}</p>
        <Link className="secondary" href={paths.totp}>
          {me.mfa_type === 'totp' ? t.account.totpReplace : t.account.totpSetUp}
        </Link>
      </section>
    </div>
  );
}

interface PanelProps {
  readonly title: string;
  readonly rows: readonly (readonly [string, ReactNode])[];
  readonly note?: string;
}

function Panel({ title, rows, note }: PanelProps): ReactNode {
  return (
    <section className="panel" aria-label={title}>
      <h2>{title}</h2>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {note !== undefined && <p className="note">{note}</p>}
    </section>
  );
}
