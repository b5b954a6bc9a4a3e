import { type ReactNode, useEffect, useState } from 'react';
import type { AdminIdentityProvider, AdminIdentityProviderTry } from '@portal-auth/sdk/admin';
import { Failure, Message } from '../../components/message';
import { fill, inARow } from '../../i18n/texts';
import { useTask } from '../../use-task';
import { admin } from '../client';
import { useTexts } from '../i18n/texts';
import { Card } from '../parts/card';
import { CodeBlock } from '../parts/code-block';
import { Facts, Lines, Or } from '../parts/facts';
import { identityProviderHref, replace, usePlace } from '../place';

/** What a sign-in of the administrator would do. The provider leads back to this card, and nobody is signed in. */
export function TryCard({ provider: { id } }: { readonly provider: AdminIdentityProvider }): ReactNode {
  const { identityProviders: texts } = useTexts();
  const { params } = usePlace();
  // The code works once, and stays neither in the address nor in the history.
  const [code] = useState(() => params.get('tried'));
  const [trial, setTrial] = useState<AdminIdentityProviderTry>();
  const begin = useTask(async () => location.assign(await admin.tryIdentityProvider(id)));
  const read = useTask(async (given: string) => setTrial(await admin.identityProviderTry(id, given)));
  const { run } = read;
  useEffect(() => {
    if (code === null) return;
    replace(identityProviderHref(id));
    void run(code);
  }, [code, id, run]);
  return (
    <Card title={texts.trial.title} note={texts.trial.intro}>
      <Failure error={read.error ?? begin.error} />
      {trial !== undefined && <Result trial={trial} />}
      <div className="actions start">
        <button type="button" className="secondary small" disabled={begin.busy} onClick={() => void begin.run()}>
          {trial === undefined ? texts.trial.start : texts.trial.again}
        </button>
      </div>
    </Card>
  );
}

function Result({ trial }: { readonly trial: AdminIdentityProviderTry }): ReactNode {
  const { identityProviders: texts, users, user: words } = useTexts();
  const { outcome, reason, user, claims, login_name: name } = trial;
  const outcomes: Readonly<Record<string, string>> = texts.trial.outcomes;
  return (
    <>
      <Message kind={outcome === 'refused' ? 'warning' : 'success'} focused>
        {/* The reason is a sentence of the service, in English. */}
        {inARow(fill(outcomes[outcome] ?? outcome, { name: name ?? '' }), reason ?? undefined)}
      </Message>
      {user !== null && (
        <Facts
          facts={[
            [users.fields.loginName, <Or text={user.login_name} />],
            [users.fields.email, <Or text={user.email} />],
            [users.fields.nickname, <Or text={user.nickname} />],
            [words.externalId, <Or text={user.external_id} />],
            [texts.trial.groups, <Lines values={user.groups ?? []} />],
            [texts.trial.secondFactor, trial.second_factor ? words.yes : words.no],
          ]}
        />
      )}
      {claims !== null && <CodeBlock place={texts.trial.claims} text={JSON.stringify(claims, null, 2)} />}
    </>
  );
}
