import { useEffect, useState } from 'react';
import type { MeResponse } from '@portal-auth/sdk';
import { auth } from '../auth';
import { useInstallation } from './installation';

/** The kind of account. `oidc`: the user signs in at an identity provider. `unknown`: a company account is possible, and no recent sign-in says which one it is. */
export type Provider = 'password' | 'ldap' | 'oidc' | 'unknown';

/** As far as the service keeps the history and answers it at once. */
const recent = 100;

/** Undefined until it is known. Only where there is a directory, the last successful sign-in is asked. */
export function useProvider(me: MeResponse): Provider | undefined {
  const { directory } = useInstallation();
  // The password of a company account never expires here.
  const elsewhere = me.identity_provider != null;
  const certain = elsewhere || !directory || me.password_expires_at !== null;
  const [found, setFound] = useState<Provider>();
  useEffect(() => {
    if (certain) return;
    let mounted = true;
    auth.loginHistory(recent).then(
      (logins) => {
        const provider = logins.find(({ outcome }) => outcome === 'success')?.provider;
        if (mounted) setFound(provider === 'password' || provider === 'ldap' ? provider : 'unknown');
      },
      () => mounted && setFound('unknown'),
    );
    return () => {
      mounted = false;
    };
  }, [certain]);
  if (elsewhere) return 'oidc';
  return certain ? 'password' : found;
}
