import { type ReactNode, useEffect, useState } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { NewCodes } from '../account/new-codes';
import { focusTitle } from '../account/panel';
import { auth } from '../auth';
import { Failure, Message } from '../components/message';
import { Page } from '../components/page';
import { useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

interface CodesStepProps {
  readonly me: MeResponse;
  /** False: the step before was the last one, and this page only says that it is done. */
  readonly offered: boolean;
  /** What the step before has set up. */
  readonly done: string | undefined;
  readonly onEnd: () => void;
  readonly children: ReactNode;
}

/** Offers recovery codes, and shows them until the user has saved them. */
export function CodesStep({ me, offered, done, onEnd, children }: CodesStepProps): ReactNode {
  const { t } = useSpeech();
  const { recovery } = t.account;
  const [codes, setCodes] = useState<readonly string[]>();
  const make = useTask(async () => setCodes(await auth.withFreshLogin(() => auth.makeRecoveryCodes())));
  // The button that made the codes has disappeared.
  useEffect(() => {
    if (codes !== undefined) focusTitle();
  }, [codes]);

  if (codes !== undefined) {
    return (
      <Page title={recovery.title}>
        <NewCodes codes={codes} loginName={me.login_name} onDone={onEnd} />
      </Page>
    );
  }
  return (
    <Page title={offered ? recovery.title : t.welcome.ready} intro={offered ? t.welcome.codes : undefined}>
      {done !== undefined && <Message kind="success">{done}</Message>}
      {offered && (
        <>
          <Failure error={make.error} />
          <button type="button" className="primary" disabled={make.busy} onClick={() => void make.run()}>
            {recovery.make}
          </button>
          <p className="note">{t.welcome.skippable}</p>
        </>
      )}
      <button type="button" className={offered ? 'secondary' : 'primary'} onClick={onEnd}>
        {offered ? t.account.offer.later : t.welcome.goOn}
      </button>
      {children}
    </Page>
  );
}
