import { remembered } from '../tab-memory';
import type { Arrival } from './arrival';

/** The page that has opened this window waits for the answer under this name. A new window copies the memory of its tab. */
export const awaited = remembered('portal.fresh-window');
export const channelName = 'portal.fresh-login';

export type Told = Arrival & { readonly to: string };

let told: Arrival | undefined;

/**
 * Gives the answer of the provider to the page that has opened this window, once.
 * @returns false if no page has opened it
 */
export function isTold(arrival: Arrival): boolean {
  if (told === arrival) return true;
  const to = awaited.get();
  if (to === undefined) return false;
  told = arrival;
  awaited.set(undefined);
  const channel = new BroadcastChannel(channelName);
  channel.postMessage({ to, ...arrival } satisfies Told);
  channel.close();
  return true;
}
