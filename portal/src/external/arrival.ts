import { useSyncExternalStore } from 'react';
import { paths } from '../paths';

/** What an identity provider has answered: a code that signs in once, or the error code of a refusal. */
export type Arrival =
  { readonly kind: 'code'; readonly code: string } | { readonly kind: 'refused'; readonly error: string };

let arrival: Arrival | undefined;
const listeners = new Set<() => void>();

/**
 * Takes the answer out of `/?external=CODE` or `/?error=CODE`, before anything is drawn: it must stay neither in the address
 * nor in the history of the tab.
 */
export function takeArrival(): void {
  if (location.pathname !== paths.login) return;
  const url = new URL(location.href);
  const code = url.searchParams.get('external');
  const error = url.searchParams.get('error');
  if ((code ?? error) === null) return;
  url.searchParams.delete('external');
  url.searchParams.delete('error');
  history.replaceState(history.state, '', url);
  arrival = code === null ? { kind: 'refused', error: error! } : { kind: 'code', code };
}

/** The pages go on. */
export function leaveArrival(): void {
  arrival = undefined;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useArrival = (): Arrival | undefined => useSyncExternalStore(subscribe, () => arrival);
