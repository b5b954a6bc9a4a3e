import { useSyncExternalStore } from 'react';
import type { CapabilitiesResponse } from '@portal-auth/sdk';
import { auth, serviceBase } from './auth';

/** What the pages show: `GET /capabilities`, or the defaults as long as there is no answer. */
export interface Offer extends Pick<CapabilitiesResponse, 'providers' | 'password_reset' | 'captcha'> {
  readonly brand: Partial<CapabilitiesResponse['brand']>;
  /** There is an answer, or there will be none. Until then the brand is not drawn, so that no other name flashes. */
  readonly settled: boolean;
}

let offer: Offer = {
  providers: ['password'],
  password_reset: true,
  captcha: { provider: 'altcha', site_key: null },
  brand: {},
  settled: false,
};
const listeners = new Set<() => void>();

function show(next: Offer): void {
  offer = next;
  const { color } = next.brand;
  // The Content-Security-Policy forbids style attributes. It does not restrict changes by a script.
  if (color !== undefined) document.documentElement.style.setProperty('--brand', color);
  for (const listener of listeners) listener();
}

let latest: CapabilitiesResponse | undefined;

/** Returns the defaults if the service does not answer. Nothing that a login needs may depend on this request. */
export async function findOffer(): Promise<Offer> {
  try {
    const answer = await auth.capabilities();
    if (answer !== latest) show({ ...answer, settled: true });
    latest = answer;
  } catch {
    if (!offer.settled) show({ ...offer, settled: true });
  }
  return offer;
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export function useOffer(): Offer {
  return useSyncExternalStore(subscribe, () => offer);
}

/** A path below `/brand/` belongs to the service, which can have another origin than the pages. */
export const logoUrl = (url: string): string => new URL(url, serviceBase).href;
