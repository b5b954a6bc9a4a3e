import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { Failure } from '../components/message';
import { Page } from '../components/page';
import { fill } from '../i18n/texts';
import { Another } from './another';
import { ApplicationLogo } from './application-logo';
import { useTexts } from './i18n/texts';
import { ScopeList } from './scope-list';
import type { Interaction } from './service';

interface ConsentFormProps {
  readonly interaction: Interaction;
  readonly me: MeResponse;
  readonly waits: boolean;
  readonly error: unknown;
  readonly decide: (consent: boolean) => void;
}

/** Asks whether the application may sign the user in, and says what it then sees. */
export function ConsentForm({ interaction, me, waits, error, decide }: ConsentFormProps): ReactNode {
  const { consent: texts } = useTexts();
  const { application, scopes } = interaction;
  const { name, uri } = application;
  return (
    <Page title={fill(texts.title, { name })}>
      <div className="app-head">
        <ApplicationLogo application={application} large />
        <p>
          {fill(texts.intro, { name })}
          {uri !== null && <span className="note">{new URL(uri).host}</span>}
        </p>
      </div>
      <p>{texts.sees}</p>
      <ScopeList scopes={scopes} me={me} />
      <Failure error={error} />
      <div className="decision">
        <button type="button" className="secondary" disabled={waits} onClick={() => decide(false)}>
          {texts.refuse}
        </button>
        <button type="button" className="primary" disabled={waits} onClick={() => decide(true)}>
          {texts.allow}
        </button>
      </div>
      <p className="note">{texts.later}</p>
      <Another text={fill(texts.signedInAs, { name: me.login_name })} />
    </Page>
  );
}
