import type { ReactNode } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { auth } from '../auth';
import { fill, useSpeech } from '../i18n/texts';
import { useTask } from '../use-task';

interface WayProps {
  readonly me: MeResponse;
  /** Undefined where the step must not be skipped. */
  readonly onNever: (() => void) | undefined;
}

/** Who is signed in, and the ways out for another account and for a user who wants no offers in this browser. */
export function Way({ me, onNever }: WayProps): ReactNode {
  const { t } = useSpeech();
  const leave = useTask(() => auth.logout());
  return (
    <div className="aside">
      <p className="note">{fill(t.welcome.signedInAs, { name: me.login_name })}</p>
      <div className="ways">
        <button type="button" className="link" disabled={leave.busy} onClick={() => void leave.run()}>
          {t.welcome.another}
        </button>
        {onNever !== undefined && (
          <button type="button" className="link" onClick={onNever}>
            {t.welcome.never}
          </button>
        )}
      </div>
    </div>
  );
}
