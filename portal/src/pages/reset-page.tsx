import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { type LiveRequestResponse, type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { overMail } from '../applications/over-mail';
import { auth } from '../auth';
import { Failure } from '../components/message';
import { NewPassword } from '../components/new-password';
import { Page } from '../components/page';
import { Support } from '../components/support';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { paths } from '../paths';
import { passwordSet, typedName } from '../tab-memory';
import { useTask } from '../use-task';

interface Found {
  readonly request: LiveRequestResponse;
  readonly policy: PasswordPolicyResponse;
}

/** The page for first, forgotten and expired passwords. Its texts depend on the type of the password change request. */
export function ResetPage(): ReactNode {
  const search = new URLSearchParams(useSearch());
  const uid = search.get('uid') ?? '';
  // Only a mailed link says a language. A login with a temporary password leads here without one, also after a reload.
  return <Reset key={uid} uid={uid} forced={!search.has('lang')} />;
}

interface ResetProps {
  readonly uid: string;
  /** A login with a password has led here: its user has had a password, and goes on in this browser. */
  readonly forced: boolean;
}

function Reset({ uid, forced }: ResetProps): ReactNode {
  const { t } = useSpeech();
  const [, navigate] = useLocation();
  const [found, setFound] = useState<Found>();
  // A link can expire or be used while its form is open.
  const [ended, setEnded] = useState<unknown>();
  const find = useTask(async () => {
    const [request, policy] = await Promise.all([auth.findPasswordChange(uid || '-'), auth.passwordPolicy()]);
    setFound({ request, policy });
  });
  const { run } = find;
  useEffect(() => void run(), [run]);

  const save = async ({ password, confirmation }: Readonly<Record<'password' | 'confirmation', string>>) => {
    try {
      await auth.changePassword(uid, password, confirmation);
    } catch (error) {
      if (isEnd(error)) setEnded(error);
      throw error;
    }
    if (found !== undefined)
      passwordSet.in({ name: nameIn(found.request), first: found.request.type === 0 && !forced });
    typedName.set(undefined);
    if (!forced) overMail.arrive();
    navigate(paths.login, { replace: true });
  };

  const error = ended ?? find.error;
  if (found !== undefined && error === undefined) {
    const { type } = found.request;
    const name = nameIn(found.request);
    const kind = type === 0 && forced ? 'temporary' : type;
    return (
      <Page title={t.reset.titles[kind]} intro={t.reset.intros[kind]}>
        <div>
          {name !== '' && <p className="name">{fill(t.reset.name, { name })}</p>}
          {!forced && <p className="note">{fill(t.reset.next, { address: location.origin })}</p>}
        </div>
        <NewPassword policy={found.policy} username={name} send={save} />
        <BackToLogin />
      </Page>
    );
  }
  if (error === undefined) {
    return (
      <Page title={t.reset.titles[2]}>
        <p role="status">{t.reset.loading}</p>
      </Page>
    );
  }
  return (
    <Page title={isEnd(error) ? t.reset.brokenTitle : t.reset.titles[2]}>
      {isEnd(error) ? (
        <Ended error={error} />
      ) : (
        <>
          <Failure error={error} />
          <button type="button" className="primary" onClick={() => void run()}>
            {t.reset.retry}
          </button>
        </>
      )}
      <BackToLogin />
    </Page>
  );
}

/** A replica of version 1.0.0, which serves this page during an upgrade, does not name the user. */
const nameIn = ({ login_name: name }: Partial<LiveRequestResponse>): string => name ?? typedName.get() ?? '';

/** A link that has ended, and what helps now. A new link also sets the first password of somebody who was invited. */
function Ended({ error }: { readonly error: ServiceError }): ReactNode {
  const { t } = useSpeech();
  const { password_reset: canReset } = useOffer();
  const used = error.code === 'AUTH_401007';
  return (
    <>
      <Failure error={error} />
      {used && (
        <>
          <p>{t.reset.usedHint}</p>
          <Link className="primary" href={paths.login} onClick={() => auth.backToLogin()}>
            {t.login.submit}
          </Link>
        </>
      )}
      {canReset ? (
        <>
          {!used && <p>{t.reset.invited}</p>}
          <Link className={used ? 'secondary' : 'primary'} href={paths.forgot}>
            {t.reset.again}
          </Link>
          <Support>{t.reset.noAddress}</Support>
        </>
      ) : (
        <Support>{t.reset.noReset}</Support>
      )}
    </>
  );
}

/** The link is unknown, has expired, or has been used. */
function isEnd(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ['AUTH_401003', 'AUTH_401005', 'AUTH_401007'].includes(error.code);
}

/** Also abandons a password change that a login requires. */
function BackToLogin(): ReactNode {
  const { t } = useSpeech();
  return (
    <p className="aside">
      <Link href={paths.login} onClick={() => auth.backToLogin()}>
        {t.reset.back}
      </Link>
    </p>
  );
}
