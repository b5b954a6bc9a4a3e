import { type ReactNode, useState } from 'react';
import type { ConfirmationCode } from '@portal-auth/sdk';
import { useAuth } from '../auth';
import { CodeForm } from '../components/code-form';
import { Failure, Message } from '../components/message';
import { RecoveryForm } from '../components/recovery-form';
import { fill, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';
import '../styles/code.css';

interface CodeStepProps {
  readonly code: ConfirmationCode;
  readonly loginName: string;
  readonly onDone: () => void;
  /** The codes are used up. */
  readonly onEnd: () => void;
}

/** The code of the mail or the authenticator, or a recovery code. */
export function CodeStep({ code, loginName, onDone, onEnd }: CodeStepProps): ReactNode {
  const { t } = useSpeech();
  const { waiting } = useAuth();
  const mailed = code.type === 'email';
  // No mail can reach this user.
  const onlyRecovery = mailed && code.email === null;
  const [recovery, setRecovery] = useState(onlyRecovery);
  const [resent, setResent] = useState(false);
  const orEnd = async (work: Promise<void>) => {
    try {
      await work;
    } catch (error) {
      if (code.attemptsLeft === 0) onEnd();
      throw error;
    }
  };
  const verify = useTask(async (typed: string) => {
    await orEnd(code.verify(typed, recovery ? { type: 'recovery' } : {}));
    onDone();
  });
  const resend = useTask(() => orEnd(code.resend()));
  const sendAgain = async () => {
    verify.reset();
    setResent(false);
    setResent(await resend.run());
  };
  const swap = () => {
    verify.reset();
    resend.reset();
    setResent(false);
    setRecovery(!recovery);
  };
  const attempts = fill(t.code.attempts, { count: code.attemptsLeft });
  const intro = () => {
    if (recovery) return t.code.recovery.intro;
    return mailed ? fill(t.code.email, { email: code.email ?? '' }) : fill(t.code.totp, { name: loginName });
  };
  const notice = () => {
    if (resend.error !== undefined) return <Failure error={resend.error} />;
    return (
      resent && (
        <Message kind="success" focused>
          {t.code.resent}
        </Message>
      )
    );
  };
  return (
    <>
      <p className="note" role="status">
        {intro()}
      </p>
      {recovery ? (
        <RecoveryForm task={verify} wait={waiting.code} refused={attempts} />
      ) : (
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
      )}
      {mailed && !recovery && (
        <button
          type="button"
          className="secondary"
          disabled={waiting.resend > 0 || resend.busy}
          onClick={() => void sendAgain()}
        >
          {waiting.resend > 0 ? fill(t.code.resendWait, { seconds: waiting.resend }) : t.code.resend}
        </button>
      )}
      {!onlyRecovery && (
        <button type="button" className="link" onClick={swap}>
          {recovery ? t.code.recovery.back : mailed ? t.code.noMail : t.code.lost}
        </button>
      )}
    </>
  );
}
