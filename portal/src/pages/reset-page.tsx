import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { type ChangeRequestResponse, type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Failure } from '../components/message';
import { NewPassword } from '../components/new-password';
import { Page } from '../components/page';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { typedName } from '../tab-memory';
import { useTask } from '../use-task';

interface Found {
  readonly request: ChangeRequestResponse;
  readonly policy: PasswordPolicyResponse;
}

/** The page for first, forgotten and expired passwords. Its texts depend on the type of the password change request. */
export function ResetPage(): ReactNode {
  const uid = new URLSearchParams(useSearch()).get('uid') ?? '';
  return <Reset key={uid} uid={uid} />;
}

function Reset({ uid }: { readonly uid: string }): ReactNode {
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
    typedName.set(undefined);
    navigate(paths.login, { replace: true });
  };

  const error = ended ?? find.error;
  if (found !== undefined && error === undefined) {
    const { type } = found.request;
    return (
      <Page title={t.reset.titles[type]} intro={t.reset.intros[type]}>
        <NewPassword policy={found.policy} username={typedName.get() ?? ''} send={save} />
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
      <Failure error={error} />
      {isEnd(error) ? (
        <Link className="primary" href={paths.forgot}>
          {t.reset.again}
        </Link>
      ) : (
        <button type="button" className="primary" onClick={() => void run()}>
          {t.reset.retry}
        </button>
      )}
      <BackToLogin />
    </Page>
  );
}

/** The link is unknown, has expired, or has been used. */
function isEnd(error: unknown): boolean {
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
