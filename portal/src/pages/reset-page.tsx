import { type FormEvent, type ReactNode, useEffect, useId, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { type ChangeRequestResponse, passwordHints, type PasswordPolicyResponse, ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { PasswordField } from '../components/fields';
import { Check, Dot } from '../components/icons';
import { Failure } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { fill, useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

interface Found {
  readonly request: ChangeRequestResponse;
  readonly policy: PasswordPolicyResponse;
}

/** For first, forgotten and expired passwords: the type of the password change request decides. */
export function ResetPage(): ReactNode {
  const uid = new URLSearchParams(useSearch()).get('uid') ?? '';
  return <Reset key={uid} uid={uid} />;
}

function Reset({ uid }: { readonly uid: string }): ReactNode {
  const { t } = useSpeech();
  const [found, setFound] = useState<Found>();
  const find = useTask(async () => {
    const [request, policy] = await Promise.all([auth.findPasswordChange(uid || '-'), auth.passwordPolicy()]);
    setFound({ request, policy });
  });
  const { run } = find;
  useEffect(() => void run(), [run]);

  if (found !== undefined) return <NewPassword uid={uid} {...found} />;
  if (find.error === undefined) {
    return (
      <Page title={t.reset.titles[2]}>
        <p role="status">{t.reset.loading}</p>
      </Page>
    );
  }
  const dead = find.error instanceof ServiceError && find.error.status === 401;
  return (
    <Page title={dead ? t.reset.brokenTitle : t.reset.titles[2]}>
      <Failure error={find.error} />
      {dead ? (
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

function NewPassword({ uid, request, policy }: Found & { readonly uid: string }): ReactNode {
  const { t } = useSpeech();
  const [, navigate] = useLocation();
  const [password, setPassword] = useState('');
  const [confirmation, setConfirmation] = useState('');
  const rules = useId();
  const hints = [
    ...passwordHints(policy, password).map(({ rule, met }) => ({
      met,
      text: fill(t.reset.hints[rule], { count: policy.min_length }),
    })),
    { met: password !== '' && password === confirmation, text: t.reset.hints.same },
  ];

  const save = useTask(async () => {
    await auth.changePassword(uid, password, confirmation);
    navigate(paths.login, { replace: true });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save.run();
  };

  const { titles, intros } = t.reset;
  return (
    <Page title={titles[request.type]} intro={intros[request.type]}>
      <Failure error={save.error} />
      <form onSubmit={submit} noValidate>
        <PasswordField
          label={t.reset.password}
          name="new-password"
          value={password}
          onChange={setPassword}
          autoComplete="new-password"
          describedBy={rules}
          required
        />
        <PasswordField
          label={t.reset.confirm}
          name="confirm-password"
          value={confirmation}
          onChange={setConfirmation}
          autoComplete="new-password"
          describedBy={rules}
          required
        />
        <div className="rules" id={rules}>
          <p>{t.reset.rules}</p>
          <ul>
            {hints.map(({ text, met }) => (
              <li key={text} className={met ? 'met' : undefined}>
                {met ? <Check /> : <Dot />}
                {text}
                <span className="heard">, {met ? t.reset.met : t.reset.unmet}</span>
              </li>
            ))}
          </ul>
        </div>
        <Submit label={t.reset.submit} busy={save.busy} busyLabel={t.reset.busy} />
      </form>
      <BackToLogin />
    </Page>
  );
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
