import type { ReactNode } from 'react';
import { ServiceError } from '@portal-auth/sdk';
import { auth } from '../../auth';
import { Message } from '../../components/message';
import { paths } from '../../paths';
import { target } from '../../tab-memory';
import { useTask } from '../../use-task';
import { useTexts } from '../i18n/texts';
import { mayLeave } from '../unsaved';

/** A change wants a login that is only a few minutes old (docs/spec/extensions.md#young-session). */
export const needsFreshLogin = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'AUTH_403002';

/** Another user has the login name or the e-mail address. */
export const isTaken = (error: unknown): boolean => error instanceof ServiceError && error.code === 'USER_409001';

/** Asks the administrator to sign in again, and then leads back to this place. */
export function SignInAgain(): ReactNode {
  const { gate } = useTexts();
  return (
    <div className="notice">
      <Message kind="info">{gate.fresh.text}</Message>
      <AgainButton />
    </div>
  );
}

/** The next login asks for the second factor, also on a trusted device: without it the service would refuse again. */
export function AgainButton(): ReactNode {
  const { gate } = useTexts();
  const again = useTask(() => {
    target.set(paths.admin + location.hash);
    auth.forgetThisDevice();
    return auth.logout();
  });
  // The changes of a form do not come back after the login.
  const leave = () => void (mayLeave() && again.run());
  return (
    <button type="button" className="primary" disabled={again.busy} onClick={leave}>
      {gate.fresh.button}
    </button>
  );
}
