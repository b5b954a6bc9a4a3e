import { useCallback, useEffect, useRef, useState } from 'react';

export interface Task<A extends unknown[]> {
  readonly busy: boolean;
  readonly error: unknown;
  run(...args: A): Promise<boolean>;
  reset(): void;
}

/** State of an operation that may fail. While it runs, a second call of `run` does nothing and returns false. */
export function useTask<A extends unknown[]>(work: (...args: A) => Promise<unknown>): Task<A> {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const under = useRef(false);
  const latest = useRef(work);
  useEffect(() => {
    latest.current = work;
  });
  const run = useCallback(async (...args: A) => {
    if (under.current) return false;
    under.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await latest.current(...args);
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      under.current = false;
      setBusy(false);
    }
  }, []);
  const reset = useCallback(() => setError(undefined), []);
  return { busy, error, run, reset };
}
