import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { type Enrolment, ServiceError } from '@portal-auth/sdk';
import { auth, useAuth } from '../auth';
import { CodeField, isCode } from '../components/fields';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { useTask } from '../use-task';

/** Starts the enrolment when it opens. Asks for a code of the current authenticator if the service requires one. */
export function TotpPage(): ReactNode {
  const { t } = useSpeech();
  const { enrolment } = useAuth();
  const [ended, setEnded] = useState(false);
  const start = useTask(async (code?: string) => {
    await auth.startEnrolment(code);
    setEnded(false);
  });
  const { run } = start;
  const begun = useRef(enrolment !== undefined);
  useEffect(() => {
    if (!begun.current) void run();
    begun.current = true;
  }, [run]);

  if (enrolment !== undefined)
    return <Scan enrolment={enrolment} onEnd={() => setEnded(true)} again={() => void run()} />;
  if (start.error instanceof ServiceError && start.error.code === 'AUTH_MFA_401001') {
    return <CurrentCode busy={start.busy} error={start.error} go={(code) => void run(code)} />;
  }
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

interface ScanProps {
  readonly enrolment: Enrolment;
  readonly onEnd: () => void;
  readonly again: () => void;
}

function Scan({ enrolment, onEnd, again }: ScanProps): ReactNode {
  const { t } = useSpeech();
  const { waiting } = useAuth();
  const [, navigate] = useLocation();
  const [code, setCode] = useState('');
  const [malformed, setMalformed] = useState(false);
  const confirm = useTask(async () => {
    try {
      await auth.confirmEnrolment(code);
    } catch (error) {
      setCode('');
      if (auth.snapshot.enrolment === undefined) onEnd();
      throw error;
    }
    navigate(paths.account, { replace: true, state: 'confirmed' });
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setMalformed(!isCode(code));
    if (isCode(code)) void confirm.run();
  };
  return (
    <Page title={t.totp.title} intro={t.totp.scan}>
      <QrCode secret={enrolment.secret} />
      <p className="hint">{t.totp.key}</p>
      <div className="key">
        <code>{enrolment.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <Copy text={enrolment.secret} />
      </div>
      <p className="aside">
        <a href={enrolment.uri}>{t.totp.open}</a>
      </p>
      <p>{t.totp.then}</p>
      {malformed ? <Message kind="error">{t.code.malformed}</Message> : <Failure error={confirm.error} />}
      <form onSubmit={submit} noValidate>
        <CodeField label={t.totp.label} name="code" value={code} onChange={setCode} required />
        <Submit
          label={t.totp.submit}
          busy={confirm.busy}
          busyLabel={t.totp.busy}
          wait={waiting.code}
          waitLabel={t.totp.wait}
        />
      </form>
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

function Copy({ text }: { readonly text: string }): ReactNode {
  const { t } = useSpeech();
  const [copied, setCopied] = useState(false);
  const copy = useTask(async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  });
  return (
    <button type="button" className="secondary small" onClick={() => void copy.run()}>
      {copied ? t.totp.copied : t.totp.copy}
    </button>
  );
}

interface CurrentCodeProps {
  readonly busy: boolean;
  readonly error: ServiceError;
  readonly go: (code: string) => void;
}

function CurrentCode({ busy, error, go }: CurrentCodeProps): ReactNode {
  const { t } = useSpeech();
  const [code, setCode] = useState('');
  const [tried, setTried] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (isCode(code)) go(code);
  };
  return (
    <Page title={t.totp.currentTitle} intro={t.totp.current}>
      {tried && !isCode(code) && <Message kind="error">{t.code.malformed}</Message>}
      {tried && isCode(code) && !busy && <Failure error={error} />}
      <form onSubmit={submit} noValidate>
        <CodeField label={t.totp.currentLabel} name="current-code" value={code} onChange={setCode} required />
        <Submit label={t.totp.currentSubmit} busy={busy} busyLabel={t.totp.busy} />
      </form>
      <Cancel />
    </Page>
  );
}

function Cancel(): ReactNode {
  const { t } = useSpeech();
  return (
    <p className="aside">
      <Link href={paths.account} onClick={() => auth.cancelEnrolment()}>
        {t.totp.cancel}
      </Link>
    </p>
  );
}
