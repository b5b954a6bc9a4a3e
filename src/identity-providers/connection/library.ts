import type * as Jose from 'jose';
import type * as OpenIdClient from 'openid-client';
import { loadOnce } from '../../shared/load-once';

export type { Configuration, CustomFetch, ServerMetadata } from 'openid-client';

export interface Library {
  readonly openid: typeof OpenIdClient;
  /** For logout tokens, which `openid-client` does not verify. It verifies its own signatures with `jose`, too. */
  readonly jose: typeof Jose;
}

/**
 * The packages `openid-client` and `jose` (ADR 0036). Their names do not leave this folder. The first request to a provider
 * loads them: without a provider they cost neither memory nor time.
 */
export const loadLibrary = loadOnce<Library>(async () => ({
  openid: await import('openid-client'),
  jose: await import('jose'),
}));
