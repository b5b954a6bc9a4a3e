import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type Enrolment, ServiceError } from '@portal-auth/sdk';
import { auth, useAuth } from '../auth';
import { CodeForm } from '../components/code-form';
import { Copy } from '../components/copy';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { passwordLogin } from '../tab-memory';
import { type Task, useTask } from '../use-task';

/** Starts the enrolment when it opens. Asks for a code of the current authenticator if the service requires one. */
export function TotpPage(): ReactNode {
  const { t } = useSpeech();
  const { enrolment } = useAuth();
  const [ended, setEnded] = useState(false);
  const start = useTask(async (code?: string) => {
    await auth.withFreshLogin(() => auth.startEnrolment(code));
    setEnded(false);
  });
  const { run } = start;
  // `start.error` is empty while a code is checked. This state keeps the form on the page meanwhile.
  const [currentCode, setCurrentCode] = useState(false);
  useEffect(() => {
    if (isRefusedCode(start.error)) setCurrentCode(true);
    if (enrolment !== undefined) setCurrentCode(false);
  }, [start.error, enrolment]);
  const begun = useRef(enrolment !== undefined);
  useEffect(() => {
    if (!begun.current) void run();
    begun.current = true;
  }, [run]);

  if (enrolment !== undefined)
    return <Scan enrolment={enrolment} onEnd={() => setEnded(true)} again={() => void run()} />;
  if (currentCode || isRefusedCode(start.error)) return <CurrentCode start={start} />;
  return (
    <Page title={t.totp.title}>
      {ended ? <Message kind="error">{t.totp.ended}</Message> : <Failure error={start.error} />}
      {ended || start.error !== undefined ? (
        <button type="button" className="primary" disabled={start.busy} onClick={() => void run()}>
          {t.totp.again}
        </button>
      ) : (
        <p role="status">{t.totp.loading}</p>
      )}
      <Cancel />
    </Page>
  );
}

/** The welcome page sends the user here, or the account page does. */
const comesFrom = (): string => (passwordLogin.get() === undefined ? paths.security : paths.welcome);

/** The service wants a code of the current authenticator before it is replaced, or has refused one. */
function isRefusedCode(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'AUTH_MFA_401001';
}

interface ScanProps {
  readonly enrolment: Enrolment;
  readonly onEnd: () => void;
  readonly again: () => void;
}

function Scan({ enrolment, onEnd, again }: ScanProps): ReactNode {
  const { t } = useSpeech();
  const { waiting } = useAuth();
  const [, navigate] = useLocation();
  const confirm = useTask(async (code: string) => {
    try {
      await auth.confirmEnrolment(code);
    } catch (error) {
      if (auth.snapshot.enrolment === undefined) onEnd();
      throw error;
    }
    navigate(comesFrom(), { replace: true, state: 'confirmed' });
  });
  return (
    <Page title={t.totp.title} intro={t.totp.scan}>
      <QrCode secret={enrolment.secret} />
      <p className="hint">{t.totp.key}</p>
      <div className="key">
        <code>{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <Copy text={enrolment.secret} label={t.totp.copy} />
      </div>
      <p className="aside">
        <a href={enrolment.uri}>{t.totp.open}</a>
      </p>
      <p>{t.totp.then}</p>
      <CodeForm label={t.totp.label} name="code" texts={t.totp} task={confirm} wait={waiting.code} />
      <button type="button" className="secondary" onClick={again}>
        {t.totp.again}
      </button>
      <Cancel />
    </Page>
  );
}

/** Loads the QR code once per secret, because the service returns it at most five times. */
function QrCode({ secret }: { readonly secret: string }): ReactNode {
  const { t } = useSpeech();
  const [url, setUrl] = useState<string>();
  const fetch = useTask(async (shown: () => boolean) => {
    const blob = await auth.enrolmentQrCode();
    if (shown()) setUrl(URL.createObjectURL(blob));
  });
  const { run } = fetch;
  useEffect(() => {
    let shown = true;
    void run(() => shown);
    return () => {
      shown = false;
      setUrl((last) => {
        if (last !== undefined) URL.revokeObjectURL(last);
        return undefined;
      });
    };
  }, [secret, run]);
  if (fetch.error !== undefined) return <Failure error={fetch.error} />;
  return <div className="qr">{url !== undefined && <img src={url} alt={t.totp.qrAlt} width="220" height="220" />}</div>;
}

interface CurrentCodeProps {
  readonly start: Task<[code?: string]>;
}

/**
 * A confirmation of the session does not replace the code (ADR 0008), so the page says what does for a lost phone.
 * Hides the first refusal, which answers a request without a code and is no mistake of the user.
 */
function CurrentCode({ start }: CurrentCodeProps): ReactNode {
  const { t } = useSpeech();
  const [asked] = useState(start.error);
  const task = { ...start, error: start.error === asked ? undefined : start.error };
  const texts = { submit: t.totp.currentSubmit, busy: t.totp.busy };
  return (
    <Page title={t.totp.currentTitle} intro={t.totp.current}>
      <CodeForm label={t.totp.currentLabel} name="current-code" texts={texts} task={task} autoFocus />
      <p className="note">{t.totp.currentLost}</p>
      <Cancel />
    </Page>
  );
}

function Cancel(): ReactNode {
  const { t } = useSpeech();
  return (
    <p className="aside">
      <Link href={comesFrom()} onClick={() => auth.cancelEnrolment()}>
        {t.totp.cancel}
      </Link>
    </p>
  );
}
