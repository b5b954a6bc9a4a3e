import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { auth, useAuth } from '../auth';
import { CodeField, isCode } from '../components/fields';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { fill, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

export function CodePage(): ReactNode {
  const { t } = useSpeech();
  const { step, waiting } = useAuth();
  const [code, setCode] = useState('');
  const [malformed, setMalformed] = useState(false);
  const [resent, setResent] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const verify = useTask(async () => {
    try {
      await auth.verifyCode(code);
    } catch (error) {
      setCode('');
      throw error;
    }
  });
  const resend = useTask(() => auth.resendCode());

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setResent(false);
    setMalformed(!isCode(code));
    if (isCode(code)) void verify.run();
    else input.current?.focus();
  };
  const sendAgain = async () => {
    verify.reset();
    setMalformed(false);
    setResent(await resend.run());
  };

  // After the last code the state has changed already, and the redirect follows in the next frame.
  if (step.kind !== 'code') return null;
  const { type, email, loginName, attemptsLeft } = step;
  const intro =
    type === 'totp'
      ? fill(t.code.totp, { name: loginName })
      : email === null
        ? t.code.emailUnknown
        : fill(t.code.email, { email });
  return (
    <Page title={t.code.title} intro={intro}>
      {malformed ? (
        <Message kind="error">{t.code.malformed}</Message>
      ) : (
        <Failure error={verify.error ?? resend.error} />
      )}
      {attemptsLeft < 5 && waiting.code > 0 && (
        <Message kind="info">{fill(t.code.attempts, { count: attemptsLeft })}</Message>
      )}
      {resent && <Message kind="success">{t.code.resent}</Message>}
      <form onSubmit={submit} noValidate>
        <CodeField
          label={t.code.label}
          name="code"
          value={code}
          onChange={setCode}
          inputRef={input}
          autoFocus
          required
        />
        <Submit
          label={t.code.submit}
          busy={verify.busy}
          busyLabel={t.code.busy}
          wait={waiting.code}
          waitLabel={t.code.wait}
        />
      </form>
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
