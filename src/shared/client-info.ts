import type { Language } from './languages';

/** The client of a request, as a value that use cases can pass on. It is read from the request once. */
export interface ClientInfo {
  /** The canonical address: the peer of the socket, or the address that trusted proxies report (`TRUSTED_PROXIES`). */
  readonly ip: string;
  /** At most 512 characters. */
  readonly userAgent: string;
  readonly language: Language;
  /** The language that the request asks for. Undefined when it names none, and `language` is only the default. */
  readonly wishedLanguage?: Language;
  readonly requestId: string;
  /** The thumbprint of the key that the client has proven to hold. Tokens that are issued to it are bound to this key. */
  readonly provenKey?: string;
  /**
   * Aborts with ClientGone when the connection of the client closes. Work that has not begun by then can be skipped.
   */
  readonly signal: AbortSignal;
}
