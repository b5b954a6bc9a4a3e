import { type ReactNode, useEffect, useState } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { AccountForm } from '../applications/account-form';
import { ApplicationLogo } from '../applications/application-logo';
import { ConsentForm } from '../applications/consent-form';
import { Ended, NotAllowed, NotConfirmed } from '../applications/dead-ends';
import { TextsProvider, useTexts } from '../applications/i18n/texts';
import { overMail } from '../applications/over-mail';
import { type Answers, codeOf, goOn, type Interaction, interaction, NotAllowedError } from '../applications/service';
import { auth } from '../auth';
import { Failure } from '../components/message';
import { Page } from '../components/page';
import { askFreshLogin } from '../fresh-login/host';
import { fill, useSpeech } from '../i18n/texts';
import { decodedOnce } from '../return-to';
import { useTask } from '../use-task';

/** The sign-in that an application has asked for goes on here, when its user is signed in. */
export function InteractionPage(): ReactNode {
  const [uid] = useState(() => {
    const fragment = location.hash.slice(1);
    return decodedOnce(fragment) ?? fragment;
  });
  return (
    <TextsProvider>
      <Continue uid={uid} />
    </TextsProvider>
  );
}

/** Goes on without a question, unless the service wants an account to be chosen, consent, or a fresh confirmation of the user. */
function Continue({ uid }: { readonly uid: string }): ReactNode {
  const { t } = useSpeech();
  const texts = useTexts();
  const [found, setFound] = useState<Interaction>();
  const [me, setMe] = useState<MeResponse>();
  const [asking, setAsking] = useState<'consent' | 'account'>();
  const [answers, setAnswers] = useState<Answers>();
  const [leaving, setLeaving] = useState(false);

  const leave = async (wanted: Interaction, given: Answers = {}) => {
    const { application, second_factor: secondFactor } = wanted;
    const reason = fill(texts.confirm.text, { name: application.name });
    // The first question already asks for the second factor if the application wants it.
    const to = await auth.withFreshLogin(
      () => goOn(uid, given),
      (asked) => askFreshLogin({ secondFactor: asked.secondFactor || secondFactor }, reason),
    );
    setLeaving(true);
    // Replaces this page in the history. The Back button would lead to a sign-in that is over.
    location.replace(to);
  };
  const task = useTask(async (given?: Answers) => {
    setAnswers(given);
    if (found !== undefined) return leave(found, given);
    overMail.forget();
    const [wanted, user] = await Promise.allSettled([interaction(uid), auth.me()]);
    // The page of a refusal says whose account it is.
    if (user.status === 'fulfilled') setMe(user.value);
    if (wanted.status === 'rejected') throw wanted.reason;
    if (user.status === 'rejected') throw user.reason;
    setFound(wanted.value);
    const { consent, select_account: account } = wanted.value;
    // The page of the consent shows the account as well.
    const question = consent ? 'consent' : account ? 'account' : undefined;
    setAsking(question);
    if (question === undefined) await leave(wanted.value);
  });
  const { run, error, busy } = task;
  useEffect(() => void run(), [run]);
  const code = codeOf(error);
  // An administrator can demand consent while the user confirms.
  const consentDue = code === 'APP_400001';
  useEffect(() => {
    if (consentDue) setAsking('consent');
  }, [consentDue]);

  if (error instanceof NotAllowedError)
    return <NotAllowed application={found?.application} me={me} back={error.redirectTo} />;
  if (code !== undefined && over.includes(code)) return <Ended />;
  const name = found?.application.name ?? '';
  const waits = busy || leaving;
  if (found !== undefined && code === 'AUTH_403002')
    return (
      <NotConfirmed
        interaction={found}
        waits={waits}
        again={() => void run(answers)}
        cancel={() => void run({ consent: false })}
      />
    );
  if (found !== undefined && me !== undefined && asking === 'account')
    return (
      <AccountForm
        application={found.application}
        me={me}
        waits={waits}
        error={error}
        goOn={() => void run({ select_account: true })}
        cancel={() => void run({ consent: false })}
      />
    );
  if (found !== undefined && me !== undefined && asking === 'consent')
    return (
      <ConsentForm
        interaction={found}
        me={me}
        waits={waits}
        error={consentDue ? undefined : error}
        decide={(consent) => void run({ consent })}
      />
    );
  if (error !== undefined)
    return (
      <Page title={texts.failed}>
        <Failure error={error} />
        <button type="button" className="primary" onClick={() => void run(answers)}>
          {t.account.retry}
        </button>
      </Page>
    );
  if (found === undefined) return null;
  return (
    <Page title={fill(texts.going, { name })}>
      <div className="app-head">
        <ApplicationLogo application={found.application} large />
        <p role="status">{t.account.loading}</p>
      </div>
    </Page>
  );
}

/** The sign-in is unknown, has expired, belongs to another browser, or the service signs nobody in to applications. */
const over: readonly string[] = ['APP_404001', 'COMMON_404001', 'COMMON_400001'];
