import { useEffect, useState } from 'react';
import { auth } from '../auth';
import { remembered, target } from '../tab-memory';
import { type Task, useTask } from '../use-task';

/** The provider that this tab has gone to, for another try. */
export const wentTo = remembered('portal.identity-provider');

export interface ProviderLogin extends Task<[id: string]> {
  /** Like `run`, for another task that reports the failure. */
  readonly go: (id: string) => Promise<void>;
  /** The provider that the browser is on its way to. */
  readonly leaving: string | undefined;
}

/** The way to an identity provider. The page that was wanted is kept in this tab, and goes along where the tab keeps nothing. */
export function useProviderLogin(): ProviderLogin {
  const [leaving, setLeaving] = useState<string>();
  const go = async (id: string): Promise<void> => {
    setLeaving(id);
    try {
      const address = await auth.signInWith(id, { returnTo: target.get() });
      wentTo.set(id);
      location.assign(address);
    } catch (error) {
      setLeaving(undefined);
      throw error;
    }
  };
  const task = useTask(go);
  // The Back button can show this page as it was left.
  useEffect(() => {
    const back = () => setLeaving(undefined);
    addEventListener('pageshow', back);
    return () => removeEventListener('pageshow', back);
  }, []);
  return { ...task, leaving, go };
}
