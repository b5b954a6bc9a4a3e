import type { ReactNode } from 'react';
import { useState } from 'react';
import { Failure, Message } from '../../components/message';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import type { AdminApplication, AdminApplicationClaims } from '@portal-auth/sdk/admin';
import { admin } from '../client';
import { CodeBlock } from '../parts/code-block';

/** What the application would learn about the administrator. Nothing is issued, so nothing can be stolen. */
export function TryCard({ application }: { readonly application: AdminApplication }): ReactNode {
  const { applications: texts } = useTexts();
  const [trial, setTrial] = useState<AdminApplicationClaims>();
  const task = useTask(async () => setTrial(await admin.applicationClaims(application.id)));
  const json = (claims: object): string => JSON.stringify(claims, null, 2);
  return (
    <Card title={texts.trial.title} note={texts.trial.intro}>
      <Failure error={task.error} />
      {trial !== undefined && (
        <>
          <Message key={json(trial)} kind={trial.allowed ? 'success' : 'warning'} focused>
            {trial.allowed ? texts.trial.allowed : texts.trial.refused}
          </Message>
          <CodeBlock place={texts.trial.idToken} text={json(trial.claims)} />
          <CodeBlock place={texts.trial.userinfo} text={json(trial.userinfo)} />
        </>
      )}
      <div className="actions start">
        <button type="button" className="secondary small" disabled={task.busy} onClick={() => void task.run()}>
          {trial === undefined ? texts.trial.show : texts.trial.again}
        </button>
      </div>
    </Card>
  );
}
