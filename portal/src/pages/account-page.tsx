import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { DetailsCard } from '../account/details-card';
import { DevicesCard } from '../account/devices-card';
import { LoginsCard } from '../account/logins-card';
import { PasskeysCard } from '../account/passkeys-card';
import { PasswordCard } from '../account/password-card';
import { RecoveryCard } from '../account/recovery-card';
import { SecondFactorCard } from '../account/second-factor-card';
import { SessionsCard } from '../account/sessions-card';
import { auth, useAuth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { paths } from '../paths';
import { useTask } from '../use-task';
import '../styles/account.css';

/** The account and its safety, one card for each subject. */
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
      // Not before the account is loaded, so that the button to sign out does not move when the link appears.
      action={
        (me !== undefined || load.error !== undefined) && (
          <div className="actions">
            {me?.is_admin === true && (
              <Link className="secondary small" href={paths.admin}>
                {t.account.administration}
              </Link>
            )}
            <button type="button" className="secondary small" disabled={logout.busy} onClick={() => void logout.run()}>
              {t.account.logout}
            </button>
          </div>
        )
      }
      wide
    >
      {confirmed && (
        <Message kind="success" focused>
          {t.account.confirmed}
        </Message>
      )}
      {tabOnly && <Message kind="info">{t.account.tabOnly}</Message>}
      <Failure error={load.error} />
      {me !== undefined && <Cards me={me} reload={() => void run()} />}
      {me === undefined && load.error === undefined && (
        <p className="loading" role="status">
          {t.account.loading}
        </p>
      )}
      {load.error !== undefined && (
        <button type="button" className="primary" disabled={load.busy} onClick={() => void run()}>
          {t.account.retry}
        </button>
      )}
    </Page>
  );
}

interface CardsProps {
  readonly me: MeResponse;
  readonly reload: () => void;
}

function Cards({ me, reload }: CardsProps): ReactNode {
  const { passkeys, trusted_device_days: trustDays } = useOffer();
  // A change of the password ends sessions and devices, so their cards start again.
  const [changes, setChanges] = useState(0);
  const onChanged = () => {
    setChanges((count) => count + 1);
    reload();
  };
  return (
    <div className="panels">
      <DetailsCard me={me} />
      <PasswordCard me={me} onChanged={onChanged} />
      <SecondFactorCard me={me} />
      {passkeys && <PasskeysCard />}
      <RecoveryCard me={me} />
      <SessionsCard key={`sessions ${changes}`} />
      {trustDays > 0 && <DevicesCard key={`devices ${changes}`} />}
      <LoginsCard />
    </div>
  );
}
