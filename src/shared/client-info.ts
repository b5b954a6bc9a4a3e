import type { Language } from './languages';

/** Who asks, as a value that use cases can carry: taken once from the request, never read from it again. */
export interface ClientInfo {
  /** Canonical address: the socket peer, or what trusted proxies say (`TRUSTED_PROXIES`). */
  readonly ip: string;
  /** At most 512 characters. */
  readonly userAgent: string;
  readonly language: Language;
  readonly requestId: string;
  /** Fires when the client's connection closes, with ClientGone. What is not begun by then need not be. */
  readonly signal: AbortSignal;
}
