import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { Message } from '../components/message';
import { fill } from '../i18n/texts';
import { useTexts } from './i18n/texts';
import type { Done } from './not-me';
import { ToCard } from './security-check';

interface NotMeDoneProps {
  readonly done: Done;
  readonly me: MeResponse;
}

/** What has been done after "This was not me", and what is left to do. */
export function NotMeDone({ done: { outcome, count }, me }: NotMeDoneProps): ReactNode {
  const { notMe: texts } = useTexts();
  return (
    <Message kind={outcome === 'changed' ? 'success' : 'warning'} focused>
      <p>{fill(texts[outcome], { count })}</p>
      {me.passkeys > 0 && <p>{texts.passkeys}</p>}
      <p className="message-links">
        {outcome === 'unchanged' && <ToCard className="link" card="password" text={texts.toPassword} />}
        {me.passkeys > 0 && <ToCard className="link" card="passkeys" text={texts.toPasskeys} />}
      </p>
    </Message>
  );
}
