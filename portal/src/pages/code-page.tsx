import { type ReactNode, useState } from 'react';
import { auth, useAuth } from '../auth';
import { CodeForm } from '../components/code-form';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { RecoveryForm } from '../components/recovery-form';
import { Support } from '../components/support';
import { TrustDevice } from '../components/trust-device';
import { fill, useSpeech } from '../i18n/texts';
import { useOffer } from '../offer';
import { useTask } from '../use-task';
import '../styles/code.css';

export function CodePage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const { trusted_device_days: trustDays } = useOffer();
  const [resent, setResent] = useState(false);
  const [recovery, setRecovery] = useState(false);
  const [trustDevice, setTrustDevice] = useState(false);
  const verify = useTask((code: string) =>
    auth.verifyCode(code, { ...(recovery && { type: 'recovery' }), trustDevice: trustDays > 0 && trustDevice }),
  );
  const resend = useTask(() => auth.resendCode());

  const sendAgain = async () => {
    verify.reset();
    setResent(false);
    setResent(await resend.run());
  };

  // After the last code, the state has already changed. The redirect follows in the next frame.
  if (step.kind !== 'code') return null;
  const { type, email, loginName, attemptsLeft, resumed } = step;
  const attempts = fill(t.code.attempts, { count: attemptsLeft });
  const trust = <TrustDevice checked={trustDevice} onChange={setTrustDevice} />;
  const swap = () => {
    verify.reset();
    resend.reset();
    setResent(false);
    setRecovery(!recovery);
  };

  if (recovery) {
    return (
      <Page title={t.code.recovery.title} intro={t.code.recovery.intro}>
        <RecoveryForm task={verify} wait={waiting.code} refused={attempts}>
          {trust}
        </RecoveryForm>
        <Support>{t.code.recovery.none}</Support>
        <Ways swap={swap} label={t.code.recovery.back} />
      </Page>
    );
  }

  if (type === 'email' && email === null) {
    return (
      <Page title={t.code.title}>
        <Message kind="warning">{t.code.noAddress}</Message>
        <Support>{t.code.recovery.none}</Support>
        <Ways swap={swap} label={t.code.recovery.title} />
      </Page>
    );
  }

  const intro = type === 'totp' ? fill(t.code.totp, { name: loginName }) : fill(t.code.email, { email: email ?? '' });
  const notice = () => {
    if (resend.error !== undefined) return <Failure error={resend.error} />;
    if (resent)
      return (
        <Message kind="success" focused>
          {t.code.resent}
        </Message>
      );
    // After a reload, there is no error message that would show the remaining attempts.
    if (attemptsLeft < 5) return <Message kind="info">{attempts}</Message>;
    return resumed && <Message kind="info">{t.code.resumed}</Message>;
  };
  return (
    <Page title={t.code.title} intro={intro}>
      <CodeForm
        label={t.code.label}
        name="code"
        texts={t.code}
        task={verify}
        wait={waiting.code}
        refused={attempts}
        notice={notice()}
        autoSubmit={trustDays === 0}
        onSubmit={() => {
          setResent(false);
          resend.reset();
        }}
        autoFocus
      >
        {trust}
      </CodeForm>
      {type === 'email' && (
        <button
          type="button"
          className="secondary"
          disabled={waiting.resend > 0 || resend.busy}
          onClick={() => void sendAgain()}
        >
          {waiting.resend > 0 ? fill(t.code.resendWait, { seconds: waiting.resend }) : t.code.resend}
        </button>
      )}
      {type === 'email' && <p className="note">{t.code.noMailYet}</p>}
      <Ways swap={swap} label={type === 'totp' ? t.code.lost : t.code.noMail} />
    </Page>
  );
}

/** The ways out of the form: the other kind of code, and the login page. */
function Ways({ swap, label }: { readonly swap: () => void; readonly label: string }): ReactNode {
  const { t } = useSpeech();
  return (
    <div className="aside ways">
      <button type="button" className="link" onClick={swap}>
        {label}
      </button>
      <button type="button" className="link" onClick={() => auth.backToLogin()}>
        {t.code.back}
      </button>
    </div>
  );
}
