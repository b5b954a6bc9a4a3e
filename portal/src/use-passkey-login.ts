import { useEffect, useState } from 'react';
import type { PasskeySupport } from '@portal-auth/sdk';
import { auth } from './auth';
import { typedName } from './tab-memory';
import { type Task, useTask } from './use-task';

/**
 * The login with a passkey: `run` shows the prompt of the browser. Until then the browser lists passkeys in the autofill
 * of the user name, if it can.
 */
export function usePasskeyLogin({ autofill }: PasskeySupport): Task<[]> {
  const prompt = useTask(() => {
    typedName.set(undefined);
    return auth.signInWithPasskey();
  });
  const chosen = useAutofill(autofill && !prompt.busy);
  return {
    busy: prompt.busy || chosen.busy,
    error: chosen.error ?? prompt.error,
    run: () => {
      chosen.reset();
      return prompt.run();
    },
    reset: () => {
      chosen.reset();
      prompt.reset();
    },
  };
}

/**
 * An error counts only after the user has chosen a passkey. Autofill that has ended starts again only after a prompt:
 * some browsers refuse it at once, and the page would ask the service for challenges without end.
 */
function useAutofill(on: boolean): Omit<Task<[]>, 'run'> {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: undefined });
  useEffect(() => {
    if (!on) return;
    const running = new AbortController();
    let chosen = false;
    const onChosen = () => {
      chosen = true;
      typedName.set(undefined);
      setState({ busy: true, error: undefined });
    };
    auth.signInWithPasskey({ autofill: true, signal: running.signal, onChosen }).catch((error: unknown) => {
      if (chosen) setState({ busy: false, error });
    });
    return () => running.abort();
  }, [on]);
  return { ...state, reset: () => setState({ busy: false, error: undefined }) };
}
