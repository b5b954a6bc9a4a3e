import { type ReactNode, useState } from 'react';
import { auth, useAuth } from '../auth';
import { CodeForm } from '../components/code-form';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { fill, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

export function CodePage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const [resent, setResent] = useState(false);
  const verify = useTask((code: string) => auth.verifyCode(code));
  const resend = useTask(() => auth.resendCode());

  const sendAgain = async () => {
    verify.reset();
    setResent(false);
    setResent(await resend.run());
  };

  // After the last code, the state has already changed. The redirect follows in the next frame.
  if (step.kind !== 'code') return null;
  const { type, email, loginName, attemptsLeft, resumed } = step;
  const intro =
    type === 'totp'
      ? fill(t.code.totp, { name: loginName })
      : email === null
        ? t.code.emailUnknown
        : fill(t.code.email, { email });
  const attempts = fill(t.code.attempts, { count: attemptsLeft });

  const notice = () => {
    if (resend.error !== undefined) return <Failure error={resend.error} />;
    if (resent) return <Message kind="success">{t.code.resent}</Message>;
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
        onSubmit={() => {
          setResent(false);
          resend.reset();
        }}
        autoFocus
      />
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
      <p className="aside">
        <button type="button" className="link" onClick={() => auth.backToLogin()}>
          {t.code.back}
        </button>
      </p>
    </Page>
  );
}
