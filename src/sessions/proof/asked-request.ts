import type { FastifyRequest } from 'fastify';
import type { CidrRange } from '../../platform/config/http-settings';
import { isTrustedPeer } from '../../platform/http/client-address';
import type { TokenBindingSettings } from '../token-binding-settings';
import { urlOf } from '../../shared/url-text';

/** The request that a proof has to be for, as its client has sent it. */
export interface AskedRequest {
  readonly method: string;
  /** The origins under which the client may have sent it. */
  readonly origins: readonly string[];
  /** The path as sent, without the query. */
  readonly path: string;
  /** What an ingress may have removed from the path. */
  readonly pathPrefix: string;
}

const loopbackHost = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/** @returns undefined when nobody can tell what the client has sent */
export function askedRequest(request: FastifyRequest, settings: TokenBindingSettings): AskedRequest | undefined {
  const { origins, pathPrefix, loopbackNames } = settings;
  const host = request.headers.host ?? '';
  const own = loopbackNames && loopbackHost.test(host) ? [...origins, `http://${host.toLowerCase()}`] : origins;
  return { method: request.method, origins: own, path: withoutQuery(request.raw.url ?? ''), pathPrefix };
}

/**
 * The request that a proxy has received and asks about. Only a trusted proxy may name it: otherwise a client could choose the
 * URL, and use a proof that it has recorded. A client could also add the headers that the proxy does not set, so
 * `X-Forwarded-…` and `X-Original-…` must not differ.
 */
export function forwardedRequest(
  request: FastifyRequest,
  settings: TokenBindingSettings,
  trusted: readonly CidrRange[],
): AskedRequest | undefined {
  const { headers, socket } = request;
  const named = ['x-forwarded-method', 'x-forwarded-uri', 'x-original-method', 'x-original-uri'];
  if (!isTrustedPeer(socket.remoteAddress, trusted) || named.every((name) => headers[name] === undefined)) {
    return askedRequest(request, settings);
  }
  const method = sameOf(headers['x-forwarded-method'], headers['x-original-method']);
  const uri = sameOf(headers['x-forwarded-uri'], headers['x-original-uri']);
  const [protocol, host] = [headers['x-forwarded-proto'], headers['x-forwarded-host']];
  if (method === undefined || uri === undefined) return undefined;
  const own = `${String(protocol)}://${String(host)}`;
  const origins = protocol === undefined || host === undefined ? settings.origins : [originOf(own)];
  return { method, origins: origins.filter((origin) => origin !== undefined), path: withoutQuery(uri), pathPrefix: '' };
}

type Header = string | string[] | undefined;

function sameOf(one: Header, other: Header): string | undefined {
  const value = one ?? other;
  return typeof value === 'string' && (other === undefined || other === value) ? value : undefined;
}

/** Undefined for more than an origin, such as the list that a second proxy makes of the header. */
function originOf(url: string): string | undefined {
  if (/[,\s]/.test(url) || !/^https?:\/\//i.test(url)) return undefined;
  const { origin, href } = urlOf(url) ?? {};
  return href === `${origin}/` ? origin : undefined;
}

function withoutQuery(url: string): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/**
 * Whether `htu` is the URL of this request (RFC 9449 §4.3). Both are compared in their normal form (RFC 3986 §6.2.2, 6.2.3).
 * A query or a fragment in it is refused, because `htu` has none by definition, and so are user names.
 */
export function isUrlOf(htu: string, { origins, path, pathPrefix }: AskedRequest): boolean {
  if (path.startsWith('/') && origins.some((origin) => htu === origin + path || htu === origin + pathPrefix + path)) {
    return true;
  }
  const url = !/^https?:\/\//i.test(htu) || /[?#\s]/.test(htu) ? undefined : urlOf(htu);
  if (url === undefined) return false;
  const { origin, username, password, pathname } = url;
  if (username !== '' || password !== '' || !origins.includes(origin)) return false;
  const claimed = normalPath(pathname);
  return claimed === normalPath(path) || claimed === normalPath(pathPrefix + path);
}

/** Undefined for a request target that is no path, such as `*`: no `htu` is equal to it. */
function normalPath(path: string): string | undefined {
  if (!path.startsWith('/')) return undefined;
  return urlOf(`http://x${path}`)?.pathname.replace(/%[0-9a-f]{2}/gi, (byte) => {
    const character = String.fromCharCode(parseInt(byte.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : byte.toUpperCase();
  });
}
