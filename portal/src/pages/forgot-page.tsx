import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { overMail } from '../applications/over-mail';
import { auth, useAuth } from '../auth';
import { Field } from '../components/fields';
import { Form } from '../components/form';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { Submit } from '../components/submit';
import { Support } from '../components/support';
import { localTime } from '../i18n/dates';
import { fill, useSpeech } from '../i18n/texts';
import { outboxUrl } from '../page-settings';
import { paths } from '../paths';
import { typedName } from '../tab-memory';
import { useTask } from '../use-task';

export function ForgotPage(): ReactNode {
  const { t, language } = useSpeech();
  const { waiting } = useAuth();
  const [email, setEmail] = useState('');
  const [malformed, setMalformed] = useState(false);
  const [expires, setExpires] = useState<string>();
  // Enter was pressed during the wait, in which the button is disabled. The form is sent at the end of the wait.
  const [held, setHeld] = useState(false);

  const ask = useTask(async () => {
    typedName.set(email.trim());
    overMail.leave();
    setExpires((await auth.forgotPassword(email.trim())).expired);
  });
  const submit = () => {
    const plausible = /^[^\s@]+@[^\s@]+$/.test(email.trim());
    setHeld(false);
    setMalformed(!plausible);
    if (plausible) void ask.run();
    else ask.reset();
  };
  const over = waiting.forgot === 0;
  useEffect(() => {
    if (held && over) submit();
  }, [held, over]);
  // An error about the former address says nothing about the new one.
  const change = (text: string) => {
    setEmail(text);
    setHeld(false);
    setMalformed(false);
    ask.reset();
  };

  if (expires !== undefined) {
    return (
      <Page title={t.forgot.sentTitle}>
        <Message kind="success">
          {fill(t.forgot.sent, { email: email.trim(), time: localTime(language, expires) })}
        </Message>
        {outboxUrl !== '' && (
          <Link className="primary" href={paths.outbox}>
            {t.outbox.link}
          </Link>
        )}
        <button type="button" className="secondary" onClick={() => setExpires(undefined)}>
          {t.forgot.another}
        </button>
        <Support>{t.forgot.noMail}</Support>
        <BackToLogin />
      </Page>
    );
  }
  return (
    <Page title={t.forgot.title} intro={t.forgot.intro}>
      <Form busy={ask.busy} onSubmit={submit}>
        <Failure error={ask.error} />
        <Field
          label={t.forgot.email}
          name="email"
          type="email"
          inputMode="email"
          autoComplete="email"
          value={email}
          onChange={change}
          onKeyDown={(event) => event.key === 'Enter' && !over && !ask.busy && setHeld(true)}
          error={malformed ? t.forgot.malformed : undefined}
          maxLength={254}
          autoFocus
          required
        />
        <Submit
          label={t.forgot.submit}
          busy={ask.busy}
          busyLabel={t.forgot.busy}
          wait={waiting.forgot}
          waitLabel={held ? t.forgot.held : t.forgot.wait}
        />
      </Form>
      <Support>{t.forgot.noAddress}</Support>
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
