import { useSyncExternalStore } from 'react';
import type { CapabilitiesResponse } from '@portal-auth/sdk';
import { auth, serviceBase } from './auth';
import { brandTenant } from './tab-memory';

/** The features and the brand that the pages show: `GET /capabilities`, or the defaults until there is an answer. */
export interface Offer extends Pick<
  CapabilitiesResponse,
  | 'providers'
  | 'login_by_email'
  | 'password_reset'
  | 'captcha'
  | 'mfa_required'
  | 'mfa'
  | 'passkeys'
  | 'trusted_device_days'
  | 'home_url'
  | 'token_binding'
  | 'identity_providers'
  | 'login_discovery'
> {
  readonly brand: Partial<CapabilitiesResponse['brand']>;
  /** True when the request has succeeded or failed. Until then the brand is hidden, so that no wrong name flashes. */
  readonly settled: boolean;
}

let offer: Offer = {
  providers: ['password'],
  login_by_email: true,
  password_reset: true,
  captcha: { provider: 'altcha', site_key: null },
  mfa_required: false,
  mfa: 'never',
  passkeys: false,
  trusted_device_days: 0,
  home_url: null,
  token_binding: 'optional',
  identity_providers: [],
  login_discovery: false,
  brand: {},
  settled: false,
};
const listeners = new Set<() => void>();

function show(next: Offer): void {
  offer = next;
  const { color, favicon_url: icon } = next.brand;
  // The Content-Security-Policy forbids style attributes. It does not restrict changes by a script.
  if (color !== undefined) document.documentElement.style.setProperty('--brand', color);
  if (typeof icon === 'string') showIcon(brandUrl(icon));
  for (const listener of listeners) listener();
}

/** The type of the built-in icon does not hold for the one of the company. */
function showIcon(url: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel=icon]');
  link?.removeAttribute('type');
  link?.setAttribute('href', url);
}

/** What a replica of version 1.0.0 does not answer. It serves these pages during an upgrade, and after a roll-back. */
const ofFormer = ({ mfa_required }: CapabilitiesResponse): Partial<CapabilitiesResponse> => ({
  ...{ login_by_email: false, home_url: null, token_binding: 'off' as const },
  identity_providers: [],
  mfa: mfa_required ? 'always' : 'never',
});

let latest: CapabilitiesResponse | undefined;

/** Returns the defaults if the service does not answer. Nothing that a login needs may depend on this request. */
export async function findOffer(): Promise<Offer> {
  try {
    const answer = await auth.capabilities({ tenant: brandTenant.get() });
    if (answer !== latest) show({ ...ofFormer(answer), ...answer, settled: true });
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

/** Resolves a path below `/brand/` against the service, which can have another origin than the pages. */
export const brandUrl = (url: string): string => new URL(url, serviceBase).href;
