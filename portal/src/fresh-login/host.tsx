import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { ConnectionError, type FreshLogin, type MeResponse } from '@portal-auth/sdk';
import { auth, useAuth } from '../auth';

export interface FreshLoginProps extends FreshLogin {
  readonly me: MeResponse;
  /** The user has a passkey, and this browser can use it. */
  readonly passkey: boolean;
  /** Why the password is asked for, where the age of the last sign-in is not the reason. */
  readonly reason?: string | undefined;
  readonly onClose: (confirmed: boolean) => void;
}

interface Asked extends FreshLoginProps {
  readonly Dialog: ComponentType<FreshLoginProps>;
}

let show: (asked: Asked | undefined) => void = () => undefined;

/** Opens the dialog when all that it shows is there, so that nothing in it moves. */
export const askFreshLogin = async ({ secondFactor }: FreshLogin, reason?: string): Promise<boolean> => {
  const script = import('./dialog').catch((cause: unknown) => {
    throw new ConnectionError('the dialog did not load', { cause });
  });
  const [{ FreshLoginDialog: Dialog }, me] = await Promise.all([script, auth.me()]);
  // Without the code for passkeys, the password is asked for.
  const passkey = me.passkeys > 0 && (await auth.passkeySupport().catch(() => undefined))?.passkeys === true;
  return new Promise((resolve) => {
    const onClose = (confirmed: boolean) => {
      show(undefined);
      resolve(confirmed);
    };
    show({ Dialog, me, passkey, secondFactor, reason, onClose });
  });
};

/** The place of the dialog in which signed-in users confirm who they are. Its script is loaded when it is needed. */
export function FreshLoginHost(): ReactNode {
  const { step } = useAuth();
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => {
    show = setAsked;
    return auth.onFreshLogin((wanted) => askFreshLogin(wanted));
  }, []);
  const signedIn = step.kind === 'signed-in';
  // The user has signed out in another tab.
  useEffect(() => {
    if (!signedIn) asked?.onClose(false);
  }, [signedIn, asked]);
  if (asked === undefined) return null;
  const { Dialog, ...props } = asked;
  return <Dialog {...props} />;
}
