import type { ReactNode } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Message } from '../components/message';
import { useSpeech } from '../i18n/texts';
import { paths } from '../paths';
import { target } from '../tab-memory';
import { useTask } from '../use-task';

/** The service wants a login that is only a few minutes old (docs/spec/extensions.md#young-session). */
export const needsFreshLogin = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'AUTH_403002';

/** Asks the user to sign in again, and then leads back to the card with this id. */
export function SignInAgain({ card }: { readonly card: string }): ReactNode {
  const { t } = useSpeech();
  const again = useTask(async () => {
    target.set(`${paths.account}#${card}`);
    // An administrator has to prove the second factor, which a trusted device leaves out.
    if ((await auth.me()).is_admin === true) auth.forgetThisDevice();
    return auth.logout();
  });
  return (
    <>
      <Message kind="info">{t.account.freshLogin.text}</Message>
      <button type="button" className="primary" disabled={again.busy} onClick={() => void again.run()}>
        {t.account.freshLogin.button}
      </button>
    </>
  );
}
