import { useEffect, useState } from 'react';
import type { PasskeySupport } from '@portal-auth/sdk';
import { auth } from './auth';
import { useOffer } from './offer';

const none: PasskeySupport = { passkeys: false, autofill: false, platform: false };

/** What this browser can do with the passkeys of the service: nothing if the service, or until the browser, says so. */
export function usePasskeySupport(): PasskeySupport {
  const { passkeys: offered } = useOffer();
  const [support, setSupport] = useState(none);
  useEffect(() => {
    if (!offered) return;
    let mounted = true;
    auth.passkeySupport().then(
      (found) => mounted && setSupport(found),
      // The code for passkeys does not load. The pages work without it.
      () => undefined,
    );
    return () => {
      mounted = false;
    };
  }, [offered]);
  return offered ? support : none;
}
