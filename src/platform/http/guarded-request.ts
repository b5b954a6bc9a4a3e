import type { LookupFunction } from 'node:net';
import { isIP } from 'node:net';
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { version } from '../version';
import { bareHost, isLoopbackHost, isNever } from './address-kind';
import { addressesOf } from './host-addresses';
import { urlOf } from '../../shared/url-text';

export interface GuardedRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the exchange, whatever it waits for: a name, a connection, an answer. */
  readonly signal: AbortSignal;
  /** Limits the look-up of the name, the connection and TLS. */
  readonly connectMs?: number;
  /** Production sends nothing by http. Elsewhere http is for loopback alone. */
  readonly https: boolean;
  /** Which addresses are refused. Addresses that only the machine or its link answers always are. */
  readonly refuses?: (address: string) => boolean;
  /** Left out: the status decides, and the body is not read. */
  readonly largestBody?: number;
  /** The status decides: a body that is too long, compressed or cut off is the empty text. */
  readonly statusDecides?: true;
  /** Keeps connections for the next request to the same server. Left out: none is kept. */
  readonly agent?: Agent;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** The answer, or why there is none: a code or a fixed word, without the URL. */
export type GuardedOutcome = GuardedAnswer | { readonly failure: string };

/** Of all headers together. */
const mostHeaders = 16_384;

class Refused extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/**
 * Asks a server whose address somebody else has chosen: one try, no redirect, an answer of bounded size, never an address that
 * only the machine or its link answers. It never throws.
 */
export function guardedRequest(asked: GuardedRequest): Promise<GuardedOutcome> {
  const target = urlOf(asked.url);
  if (target === undefined || !isPermitted(target, asked.https)) return Promise.resolve({ failure: 'not permitted' });
  const refused = (address: string) => isNever(address) || asked.refuses?.(address) === true;
  const host = bareHost(target.hostname);
  // `net.connect` looks up no address that is one already.
  if (isIP(host) !== 0 && refused(host)) return Promise.resolve({ failure: refusal(host) });
  if (asked.signal.aborted) return Promise.resolve({ failure: 'timeout' });
  return new Promise((resolve) => {
    const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
    // `fetch` cannot be given a look-up. This function follows no redirect, and `agent: false` keeps no connection. One that is
    // kept leads to an address that was checked when it was made.
    const request = send(target, {
      method: asked.method,
      agent: asked.agent ?? false,
      lookup: guardedLookup(refused),
      signal: asked.signal,
      maxHeaderSize: mostHeaders,
      headers: {
        'user-agent': `portal-authentication/${version}`,
        accept: 'application/json',
        'accept-encoding': 'identity',
        ...asked.headers,
        ...(asked.body !== undefined && { 'content-length': Buffer.byteLength(asked.body) }),
      },
    });
    let arrived: IncomingMessage | undefined;
    const settle = (outcome: GuardedOutcome): void => {
      stopWaiting();
      const decided = asked.statusDecides && arrived !== undefined && 'failure' in outcome;
      resolve(decided ? { ...headOf(arrived!), text: '' } : outcome);
    };
    const fail = (error: NodeJS.ErrnoException) =>
      settle({ failure: asked.signal.aborted ? 'timeout' : (error.code ?? 'unreachable') });
    const stopWaiting = endsUnconnected(request, asked.connectMs);
    request.on('error', fail);
    // The receiver asks for another protocol (101), or closes without an answer.
    request.on('close', () => settle({ failure: 'cut off' }));
    request.on('response', (response) => {
      arrived = response;
      response.on('error', fail);
      if (asked.largestBody === undefined) {
        // The status has decided. The body may be long or never end.
        settle({ ...headOf(response), text: '' });
        response.destroy();
      } else {
        read(response, asked.largestBody, settle);
      }
    });
    request.end(asked.body);
  });
}

/**
 * Resolves a name, and refuses it if one of its addresses is refused. The connection is made to the addresses that were
 * checked, so a name that resolves differently a moment later gains nothing (DNS rebinding).
 */
function guardedLookup(refused: (address: string) => boolean): LookupFunction {
  return (host, options, done) => {
    addressesOf(host).then(
      (addresses) => {
        const wrong = addresses.find(({ address }) => refused(address));
        if (wrong !== undefined) return done(new Refused(refusal(wrong.address)), []);
        const [first] = addresses;
        if (options.all === true || first === undefined) return done(null, addresses);
        return done(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => done(error, []),
    );
  };
}

const refusal = (address: string): string => (isNever(address) ? 'link-local' : 'inner address');

const headOf = ({ statusCode = 0, headers }: IncomingMessage) => ({
  status: statusCode,
  contentType: headers['content-type'] ?? '',
});

/** @returns what ends the waiting */
function endsUnconnected(request: ClientRequest, connectMs: number | undefined): () => void {
  if (connectMs === undefined) return () => undefined;
  const timer = setTimeout(() => request.destroy(new Refused('timeout')), connectMs);
  const stop = () => clearTimeout(timer);
  request.on('socket', (socket) => socket.once('encrypted' in socket ? 'secureConnect' : 'connect', stop));
  return stop;
}

function read(response: IncomingMessage, largestBody: number, settle: (outcome: GuardedOutcome) => void): void {
  const give = (outcome: GuardedOutcome): void => {
    settle(outcome);
    response.destroy();
  };
  // It was not asked for, and a small body can become a huge one.
  if (!['', 'identity'].includes(response.headers['content-encoding'] ?? '')) return give({ failure: 'compressed' });
  const chunks: Buffer[] = [];
  let size = 0;
  response.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > largestBody) give({ failure: 'too large' });
    else chunks.push(chunk);
  });
  response.on('end', () => give({ ...headOf(response), text: Buffer.concat(chunks).toString('utf8') }));
  response.on('close', () => settle({ failure: 'cut off' }));
}

function isPermitted({ protocol, hostname }: URL, https: boolean): boolean {
  if (protocol === 'https:') return true;
  return protocol === 'http:' && !https && isLoopbackHost(hostname);
}
