import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { MeResponse } from '@portal-auth/sdk';
import { Message } from '../components/message';
import { Page } from '../components/page';
import { Support } from '../components/support';
import { fill } from '../i18n/texts';
import { paths } from '../paths';
import { Another } from './another';
import { useTexts } from './i18n/texts';
import type { Application, Interaction } from './service';

interface NotAllowedProps {
  /** Undefined when the service has refused before it named the application. */
  readonly application: Application | undefined;
  readonly me: MeResponse | undefined;
  readonly back: string;
}

/** The user may not use the application. */
export function NotAllowed({ application, me, back }: NotAllowedProps): ReactNode {
  const { refused: texts, ...ways } = useTexts();
  const name = application?.name;
  return (
    <Page title={name === undefined ? texts.anyTitle : fill(texts.title, { name })}>
      {me !== undefined && <Message kind="error">{fill(texts.text, { name: me.login_name })}</Message>}
      <Support />
      <a className="primary" href={back}>
        {name === undefined ? ways.toTheApplication : fill(ways.toApplication, { name })}
      </a>
      <Link className="secondary" href={paths.account}>
        {ways.toAccount}
      </Link>
      <Another />
    </Page>
  );
}

/** The sign-in has expired, is complete, or belongs to another browser. */
export function Ended(): ReactNode {
  const { ended: texts, tiles } = useTexts();
  return (
    <Page title={texts.title} intro={texts.text}>
      <Link className="primary" href={paths.account}>
        {tiles}
      </Link>
    </Page>
  );
}

interface NotConfirmedProps {
  readonly interaction: Interaction;
  readonly waits: boolean;
  readonly again: () => void;
  readonly cancel: () => void;
}

/** The user has closed the dialog that asks who they are. */
export function NotConfirmed({ interaction, waits, again, cancel }: NotConfirmedProps): ReactNode {
  const { confirm: texts } = useTexts();
  const { application, second_factor: factor } = interaction;
  return (
    <Page title={texts.title} intro={fill(factor ? texts.factor : texts.text, { name: application.name })}>
      <button type="button" className="primary" disabled={waits} onClick={again}>
        {texts.again}
      </button>
      <button type="button" className="secondary" disabled={waits} onClick={cancel}>
        {texts.cancel}
      </button>
      <Another />
    </Page>
  );
}
