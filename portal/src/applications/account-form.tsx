import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { Failure } from '../components/message';
import { Page } from '../components/page';
import { fill } from '../i18n/texts';
import { Another } from './another';
import { ApplicationLogo } from './application-logo';
import { useTexts } from './i18n/texts';
import type { Application } from './service';

interface AccountFormProps {
  readonly application: Application;
  readonly me: MeResponse;
  readonly waits: boolean;
  readonly error: unknown;
  readonly goOn: () => void;
  readonly cancel: () => void;
}

/** Asks whether the user goes on with the account that is signed in. */
export function AccountForm({ application, me, waits, error, goOn, cancel }: AccountFormProps): ReactNode {
  const { account: texts, confirm } = useTexts();
  const facts = [...new Set([me.nickname, me.login_name, me.email])].filter((fact) => fact !== null);
  return (
    <Page title={texts.title}>
      <div className="app-head">
        <ApplicationLogo application={application} large />
        <p>
          {fill(texts.intro, { name: application.name })}
          <span className="note">{facts.join(' · ')}</span>
        </p>
      </div>
      <Failure error={error} />
      <button type="button" className="primary" disabled={waits} onClick={goOn}>
        {fill(texts.goOn, { name: me.login_name })}
      </button>
      <button type="button" className="secondary" disabled={waits} onClick={cancel}>
        {confirm.cancel}
      </button>
      <Another />
    </Page>
  );
}
