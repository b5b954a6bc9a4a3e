import type { Settings } from './options.js';
import { urlOf } from './url-text.js';

/** The part of a request that is checked: an `IncomingMessage` of Node, or a request of a framework on Node. */
export interface CheckedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly method?: string | undefined;
  /** The path with its query. */
  readonly url?: string | undefined;
  /** As `url`, where a framework shortens `url` for a router (Express, Connect). */
  readonly originalUrl?: string | undefined;
}

/** The token of a request, and how it was sent. */
export interface SentToken {
  readonly scheme: 'bearer' | 'dpop';
  readonly token: string;
}

/** @returns undefined without `Authorization: Bearer` and `Authorization: DPoP` */
export function sentToken(authorization: unknown): SentToken | undefined {
  const [, scheme, token = ''] = /^(bearer|dpop)(?: +(.*))?$/i.exec(text(authorization) ?? '') ?? [];
  return scheme === undefined ? undefined : { scheme: scheme.toLowerCase() as SentToken['scheme'], token };
}

/**
 * The URLs that the client may have asked, without their query. The header `Host` is not used: a server that gets a proof for its
 * own name could send it on with that name.
 */
export function askedUrls(request: CheckedRequest, { origins, trustForwarded }: Settings): string[] {
  const [path = ''] = (request.originalUrl ?? request.url ?? '').split(/[?#]/);
  if (!path.startsWith('/')) return [];
  const told = trustForwarded ? forwardedOrigin(request) : undefined;
  return [...origins, ...(told === undefined ? [] : [told])].map((origin) => origin + path);
}

function forwardedOrigin({ headers }: CheckedRequest): string | undefined {
  const [proto, host] = [text(headers['x-forwarded-proto']), text(headers['x-forwarded-host']) ?? text(headers.host)];
  const origin = `${proto ?? ''}://${host ?? ''}`;
  return urlOf(origin)?.origin;
}

/** A header that was sent twice is none. */
export function text(header: unknown): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
