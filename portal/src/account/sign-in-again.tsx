import type { ReactNode } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { auth } from '../auth';
import { Message } from '../components/message';
import { useSpeech } from '../i18n/texts';
import { target } from '../tab-memory';
import { useTask } from '../use-task';

/** The service wants a login that is only a few minutes old (docs/spec/extensions.md#young-session). */
export const needsFreshLogin = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'AUTH_403002';

/** Asks the user to sign in again, and then leads back to the card with this id. */
export function SignInAgain({ card }: { readonly card: string }): ReactNode {
  const { t } = useSpeech();
  const again = useTask(async () => {
    target.set(`${location.pathname}#${card}`);
    // A trusted device would leave out the second factor, and the service would want the same again.
    const { is_admin, mfa_type, passkeys } = await auth.me();
    if (is_admin === true || mfa_type === 'totp' || passkeys > 0) auth.forgetThisDevice();
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
