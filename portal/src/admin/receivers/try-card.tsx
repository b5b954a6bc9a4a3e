import { type ReactNode, useState } from 'react';
import type { AdminEventReceiver, AdminEventReceiverTest } from '@portal-auth/sdk/admin';
import { Failure, Message } from '../../components/message';
import { inARow } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';

/** Posts a test event, and shows what the receiver answered. */
export function TryCard({ receiver: { id } }: { readonly receiver: AdminEventReceiver }): ReactNode {
  const { receivers: texts } = useTexts();
  const [answer, setAnswer] = useState<AdminEventReceiverTest>();
  const test = useTask(async () => {
    setAnswer(undefined);
    setAnswer(await admin.testEventReceiver(id));
  });
  return (
    <Card title={texts.trial.title} note={texts.trial.intro}>
      <Failure error={test.error} />
      {answer !== undefined && (
        <Message kind={answer.accepted ? 'success' : 'warning'}>
          {/* The reason is a status or a code. */}
          {answer.accepted ? texts.trial.accepted : inARow(texts.trial.refused, answer.answer ?? undefined)}
        </Message>
      )}
      <div className="actions start">
        <button type="button" className="secondary small" disabled={test.busy} onClick={() => void test.run()}>
          {test.busy ? texts.trial.busy : texts.trial.start}
        </button>
      </div>
    </Card>
  );
}
