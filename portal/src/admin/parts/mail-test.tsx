import { type ReactNode, useState } from 'react';
import type { AdminMailTest } from '@portal-auth/sdk/admin';
import { Field } from '../../components/fields';
import { Form } from '../../components/form';
import { Failure, Message } from '../../components/message';
import { Submit } from '../../components/submit';
import { fill } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { useViewer } from '../viewer';
import { Card } from './card';

/** Sends a mail with the stored settings, and shows what the mail server answered. */
export function MailTest(): ReactNode {
  const { mail: texts } = useTexts();
  const { me } = useViewer();
  const [to, setTo] = useState(me.email ?? '');
  const [answer, setAnswer] = useState<AdminMailTest & { readonly to: string }>();
  const test = useTask(async () => {
    setAnswer(undefined);
    setAnswer({ ...(await admin.testMail(to.trim())), to: to.trim() });
  });
  return (
    <Card title={texts.test} note={texts.testHint}>
      <Form busy={test.busy} onSubmit={() => void (to.trim() !== '' && test.run())}>
        <Failure error={test.error} />
        <Field
          label={texts.testTo}
          type="email"
          value={to}
          onChange={setTo}
          autoComplete="off"
          maxLength={255}
          required
        />
        <div className="actions start">
          <Submit label={texts.testSend} busy={test.busy} busyLabel={texts.testBusy} />
        </div>
        {answer?.result === true && <Message kind="success">{fill(texts.testSent, { email: answer.to })}</Message>}
        {answer?.result === false && (
          <>
            <Message kind="error">{texts.testFailed}</Message>
            {answer.reply !== undefined && <pre className="reply">{answer.reply}</pre>}
          </>
        )}
      </Form>
    </Card>
  );
}
