import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { ConnectionError } from '@portal-auth/sdk';
import { Failure, Message } from '../components/message';
import { Mail } from '../components/icons';
import { Page } from '../components/page';
import { localDateTime } from '../i18n/dates';
import { fill, useSpeech } from '../i18n/texts';
import { outboxUrl } from '../page-settings';
import { paths } from '../paths';
import { useTask } from '../use-task';

interface DemoMail {
  readonly id: string;
  readonly subject: string;
  readonly to: string;
  readonly date: string;
  readonly text: string;
}

const pollMs = 2000;

async function fetchMails(): Promise<DemoMail[]> {
  const answer = await fetch(outboxUrl).catch((error: unknown) => {
    throw new ConnectionError('no answer', { cause: error });
  });
  if (!answer.ok) throw new ConnectionError(`unexpected answer ${answer.status}`);
  return ((await answer.json()) as { mails: DemoMail[] }).mails;
}

export function OutboxPage(): ReactNode {
  const { t } = useSpeech();
  return (
    <Page title={t.outbox.title} wide intro={outboxUrl === '' ? undefined : t.outbox.intro}>
      {outboxUrl === '' ? <Message kind="info">{t.outbox.none}</Message> : <Mails />}
      <p className="aside">
        <Link href={paths.login}>{t.outbox.back}</Link>
      </p>
    </Page>
  );
}

/** Loads the mails again every two seconds, because a mail is sent shortly after the action that causes it. */
function Mails(): ReactNode {
  const { t, language } = useSpeech();
  const [mails, setMails] = useState<DemoMail[]>();
  const load = useTask(async () => setMails(await fetchMails()));
  const { run } = load;
  useEffect(() => {
    void run();
    const timer = setInterval(() => {
      if (!document.hidden) void run();
    }, pollMs);
    return () => clearInterval(timer);
  }, [run]);

  if (mails === undefined) return <Failure error={load.error} />;
  if (mails.length === 0) return <Message kind="info">{t.outbox.empty}</Message>;
  return (
    <ol className="mails">
      {mails.map((mail) => (
        <li key={mail.id} className="panel">
          <h2>
            <Mail />
            {mail.subject}
          </h2>
          <p className="note">
            {fill(t.outbox.to, { address: mail.to })} ·{' '}
            <time dateTime={mail.date}>{localDateTime(language, mail.date)}</time>
          </p>
          <pre>{linked(mail.text)}</pre>
        </li>
      ))}
    </ol>
  );
}

/** Turns the URLs of a text into links. */
function linked(text: string): ReactNode[] {
  return text.split(/(https?:\/\/[^\s<>"]+)/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={index} href={part}>
        {part}
      </a>
    ),
  );
}
