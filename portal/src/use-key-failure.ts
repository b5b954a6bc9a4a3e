import { useEffect, useState } from 'react';
import { KeyError } from '@portal-auth/sdk';
import { auth } from './auth';
import { useOffer } from './offer';

/** Why nobody can sign in with this browser: the service binds each sign-in to a key, and the browser has none. */
export function useKeyFailure(): KeyError | undefined {
  const { token_binding } = useOffer();
  const [failure, setFailure] = useState<KeyError>();
  const demanded = token_binding === 'required';
  useEffect(() => {
    if (!demanded) return;
    let mounted = true;
    void auth.keyProblem().then((problem) => {
      if (mounted && problem !== undefined) setFailure(new KeyError(problem));
    });
    return () => {
      mounted = false;
    };
  }, [demanded]);
  return demanded ? failure : undefined;
}
