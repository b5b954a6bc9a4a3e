import { lookup } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export interface PostedForm {
  readonly url: string;
  readonly form: Readonly<Record<string, string>>;
  readonly userAgent: string;
  /** Ends the exchange, whatever it waits for: a name, a connection, an answer. */
  readonly signal: AbortSignal;
  /** Production sends nothing by http. */
  readonly https: boolean;
}

/** What the receiver did: its status, or why there is none. A code or a fixed word, without the URL. */
export type PostOutcome = { readonly status: number } | { readonly failure: string };

/**
 * Addresses that only the machine or its link answers: the metadata service of a cloud gives its credentials to everybody
 * who asks from the machine. The second and third are how IPv6 writes the same IPv4 addresses (RFC 4291, RFC 6052).
 */
const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16);
linkLocal.addSubnet('::ffff:169.254.0.0', 112, 'ipv6');
linkLocal.addSubnet('64:ff9b::169.254.0.0', 112, 'ipv6');
linkLocal.addSubnet('fe80::', 10, 'ipv6');
/** Of AWS: unique local, but the metadata service all the same. */
linkLocal.addAddress('fd00:ec2::254', 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
export const isLinkLocal = (address: string): boolean => linkLocal.check(address, familyOf(address));

class RefusedAddress extends Error {
  readonly code = 'link-local';
}

/**
 * Resolves a name, and refuses it if one of its addresses is link-local. The connection is made to the addresses that were
 * checked, so a name that resolves differently a moment later gains nothing (DNS rebinding).
 */
const guardedLookup: LookupFunction = (host, options, done) => {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error) return done(error, []);
    if (addresses.some(({ address }) => isLinkLocal(address))) return done(new RefusedAddress(), []);
    const [first] = addresses;
    if (options.all === true || first === undefined) return done(null, addresses);
    return done(null, first.address, first.family);
  });
};

/** Reads no more of an answer than this: only its status counts. */
const mostRead = 16_384;

/**
 * Posts a form: one try, no redirect, an answer of bounded size, never to a link-local address, and by http only to
 * loopback outside production. Private addresses are allowed, because applications of a company are there. It never throws.
 */
export function guardedPost({ url, form, userAgent, signal, https }: PostedForm): Promise<PostOutcome> {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  const host = target?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (target === undefined || !isPermitted(target, host, https)) return Promise.resolve({ failure: 'not permitted' });
  if (isIP(host) !== 0 && isLinkLocal(host)) return Promise.resolve({ failure: 'link-local' });
  const body = new URLSearchParams(form).toString();
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    // `fetch` cannot be given a look-up. This function follows no redirect, and `agent: false` keeps no connection.
    const request = send(target, {
      method: 'POST',
      agent: false,
      lookup: guardedLookup,
      signal,
      maxHeaderSize: mostRead,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': Buffer.byteLength(body),
        accept: 'application/json',
        'user-agent': userAgent,
      },
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve({ failure: signal.aborted ? 'timeout' : (error.code ?? 'unreachable') }),
    );
    request.on('response', (response) => {
      // The status has decided. The body may be long or never end.
      resolve({ status: response.statusCode ?? 0 });
      response.on('error', () => undefined);
      response.destroy();
    });
    request.end(body);
  });
}

function isPermitted({ protocol }: URL, host: string, https: boolean): boolean {
  if (protocol === 'https:') return true;
  const local = host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, familyOf(host)));
  return protocol === 'http:' && !https && local;
}
