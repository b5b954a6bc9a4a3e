import { type FormEvent, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { auth, useAuth } from '../auth';
import { Field } from '../components/fields';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { fill, useSpeech } from '../i18n/texts';
import { outboxUrl } from '../page-settings';
import { paths } from '../paths';
import { useTask } from '../use-task';

export function ForgotPage(): ReactNode {
  const { t, language } = useSpeech();
  const { waiting } = useAuth();
  const [email, setEmail] = useState('');
  const [malformed, setMalformed] = useState(false);
  const [expires, setExpires] = useState<string>();

  const ask = useTask(async () => {
    setExpires((await auth.forgotPassword(email.trim())).expired);
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const plausible = /^[^\s@]+@[^\s@]+$/.test(email.trim());
    setMalformed(!plausible);
    if (plausible) void ask.run();
  };

  if (expires !== undefined) {
    const time = new Intl.DateTimeFormat(language, { timeStyle: 'short' }).format(new Date(expires));
    return (
      <Page title={t.forgot.sentTitle}>
        <Message kind="success">{fill(t.forgot.sent, { email: email.trim(), time })}</Message>
        {outboxUrl !== '' && (
          <Link className="primary" href={paths.outbox}>
            {t.outbox.link}
          </Link>
        )}
        <button type="button" className="secondary" onClick={() => setExpires(undefined)}>
          {t.forgot.another}
        </button>
        <BackToLogin />
      </Page>
    );
  }
  return (
    <Page title={t.forgot.title} intro={t.forgot.intro}>
      {malformed ? <Message kind="error">{t.forgot.malformed}</Message> : <Failure error={ask.error} />}
      <form onSubmit={submit} noValidate>
        <Field
          label={t.forgot.email}
          name="email"
          type="email"
          inputMode="email"
          autoComplete="email"
          value={email}
          onChange={setEmail}
          maxLength={254}
          required
        />
        <Submit
          label={t.forgot.submit}
          busy={ask.busy}
          busyLabel={t.forgot.busy}
          wait={waiting.forgot}
          waitLabel={t.forgot.wait}
        />
      </form>
      <BackToLogin />
    </Page>
  );
}

function BackToLogin(): ReactNode {
  const { t } = useSpeech();
  return (
    <p className="aside">
      <Link href={paths.login}>{t.forgot.back}</Link>
    </p>
  );
}
