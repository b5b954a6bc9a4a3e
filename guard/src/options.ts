import type { Unavailable } from './auth.js';
import { demandNames, type Demands, readDemands } from './demands.js';
import { urlOf } from './url-text.js';

/** Remembers the proofs of several processes. `SET id 1 NX EX seconds` of Redis does it. */
export interface ReplayStore {
  /** @returns whether the id is new. It has to be remembered for so many seconds. A rejection refuses nobody: it is 503. */
  firstUse(id: string, seconds: number): boolean | Promise<boolean>;
}

/** With `maxAgeSeconds` and `requireFactor`, which then hold for each token. */
interface CommonOptions extends Demands {
  /** `JWT_ISSUER` of the service. */
  readonly issuer: string;
  /** `JWT_AUDIENCE` of the service. */
  readonly audience: string;
  /** How long the service may take for an answer. Default: 3000. */
  readonly timeoutMs?: number;
  /** How many answers are cached at most. Default: 10,000, which take about 10 MB. */
  readonly maxCachedTokens?: number;
  /**
   * Where the clients reach this service: `https://portal.example.com`, with the path in front if a proxy removes one. Bound
   * tokens need it, because their proofs name the URL (RFC 9449 §4.3).
   */
  readonly origins?: string | readonly string[];
  /** The proxy in front sets `X-Forwarded-Proto` and `X-Forwarded-Host`, whatever a client sends. Default: false. */
  readonly trustForwarded?: boolean;
  /** Refuses tokens that are bound to no key. Default: false. */
  readonly requireBinding?: boolean;
  /** Remembers the proofs that were used. Default: in the memory of this process. */
  readonly replayStore?: ReplayStore;
  /** Called for each token that could not be checked, for logs and metrics. It must not throw. */
  readonly onUnavailable?: (problem: Unavailable) => void;
}

/** A service client of `client create`. */
interface ClientOptions {
  /** The URL of `/introspect`. */
  readonly introspectionUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Asks the service about each token. */
export interface IntrospectionOptions extends CommonOptions, ClientOptions {
  readonly mode: 'introspection';
  /** How long an answer may be used again. Default: 0, which asks for each request. */
  readonly maxStaleSeconds?: number;
  /** Not used in this mode, so that both modes can share their options. */
  readonly jwksUrl?: string;
}

/** Verifies ES256 and RS256 here. With a client beside it, it asks the service as well. */
export interface JwksOptions extends CommonOptions, Partial<ClientOptions> {
  readonly mode: 'jwks';
  /** The URL of `/.well-known/jwks.json`. */
  readonly jwksUrl: string;
  /** With a client: how long an answer may be used again. Default: 0, which asks for each request. */
  readonly maxStaleSeconds?: number;
}

export type VerifierOptions = IntrospectionOptions | JwksOptions;

/** The options with their defaults. */
export interface Settings {
  readonly issuer: string;
  readonly audience: string;
  readonly jwksUrl: string | undefined;
  readonly client: (ClientOptions & { readonly maxStaleMs: number; readonly maxCachedTokens: number }) | undefined;
  readonly timeoutMs: number;
  readonly onUnavailable: ((problem: Unavailable) => void) | undefined;
  readonly demands: Demands;
  readonly origins: readonly string[];
  readonly trustForwarded: boolean;
  readonly requireBinding: boolean;
  readonly replayStore: ReplayStore | undefined;
}

const clientKeys = ['introspectionUrl', 'clientId', 'clientSecret'] as const;
const known = [
  ...['mode', 'issuer', 'audience', ...clientKeys, 'jwksUrl', 'maxStaleSeconds'],
  ...['timeoutMs', 'maxCachedTokens', 'onUnavailable', ...demandNames],
  ...['origins', 'trustForwarded', 'requireBinding', 'replayStore'],
];

/** @throws TypeError that names the option, never its value, which may be a secret */
export function readOptions(options: VerifierOptions): Settings {
  if (typeof options !== 'object' || options === null)
    throw new TypeError('verifier: an object of options is required');
  const given = options as unknown as Record<string, unknown>;
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) fail(unknown, `is not an option; the options are ${known.join(', ')}`);

  const { mode } = given;
  if (mode !== 'introspection' && mode !== 'jwks') fail('mode', `must be 'introspection' or 'jwks'`);
  const asks = mode === 'introspection' || clientKeys.some((name) => given[name] !== undefined);
  const maxStaleSeconds = readNumber(given, 'maxStaleSeconds', 0, { min: 0, max: 3600 });
  if (!asks && maxStaleSeconds > 0) {
    fail('maxStaleSeconds', `needs ${clientKeys.join(', ')}: without them a revocation is seen when the token expires`);
  }
  const { onUnavailable } = given;
  if (onUnavailable !== undefined && typeof onUnavailable !== 'function') fail('onUnavailable', 'must be a function');
  const maxCachedTokens = readNumber(given, 'maxCachedTokens', 10_000, { min: 2, max: 1_000_000 });
  return {
    issuer: readText(given, 'issuer'),
    audience: readText(given, 'audience'),
    jwksUrl: readJwksUrl(given, mode),
    client: asks ? { ...readClient(given), maxStaleMs: maxStaleSeconds * 1000, maxCachedTokens } : undefined,
    timeoutMs: readNumber(given, 'timeoutMs', 3000, { min: 1, max: 60_000 }),
    onUnavailable: onUnavailable as Settings['onUnavailable'],
    demands: readDemands(Object.fromEntries(demandNames.map((name) => [name, given[name]])), 'verifier'),
    origins: readOrigins(given),
    trustForwarded: readFlag(given, 'trustForwarded'),
    requireBinding: readFlag(given, 'requireBinding'),
    replayStore: readReplayStore(given),
  };
}

function readOrigins({ origins = [] }: Record<string, unknown>): string[] {
  return [origins].flat().map((one) => {
    const url = new URL(readUrl({ origins: one }, 'origins'));
    if (url.search !== '' || url.hash !== '') fail('origins', 'must have neither query nor fragment');
    return (url.origin + url.pathname).replace(/\/+$/, '');
  });
}

function readFlag(given: Record<string, unknown>, name: string): boolean {
  const value = given[name] ?? false;
  if (typeof value !== 'boolean') fail(name, 'must be true or false');
  return value;
}

function readReplayStore({ replayStore: store }: Record<string, unknown>): ReplayStore | undefined {
  const fits = store === undefined || typeof (store as ReplayStore | null)?.firstUse === 'function';
  return fits ? (store as ReplayStore | undefined) : fail('replayStore', 'must have a function firstUse');
}

function readJwksUrl(given: Record<string, unknown>, mode: 'introspection' | 'jwks'): string | undefined {
  // A wrong URL is an error in the mode that does not use it, too.
  const url = mode === 'jwks' || given.jwksUrl !== undefined ? readUrl(given, 'jwksUrl') : undefined;
  return mode === 'jwks' ? url : undefined;
}

function readClient(given: Record<string, unknown>): ClientOptions {
  const introspectionUrl = readUrl(given, 'introspectionUrl');
  const [clientId, clientSecret] = [readText(given, 'clientId'), readText(given, 'clientSecret')];
  // RFC 6749 §2.3.1 form-encodes both. What `client create` prints contains nothing that the encoding changes.
  if (!/^[\w.-]+$/.test(clientId)) fail('clientId', 'is not an id that "client create" prints');
  if (!/^[\w.-]+$/.test(clientSecret)) fail('clientSecret', 'is not a secret that "client create" prints');
  return { introspectionUrl, clientId, clientSecret };
}

function readText(given: Record<string, unknown>, name: string): string {
  const value = given[name];
  if (value === undefined) fail(name, 'is required');
  if (typeof value !== 'string' || value.trim() === '') fail(name, 'must be a text that is not empty');
  return value;
}

function readUrl(given: Record<string, unknown>, name: string): string {
  const text = readText(given, name);
  const url = urlOf(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') fail(name, 'must be an http or https URL');
  if (url.username !== '' || url.password !== '') fail(name, 'must not contain a user name or password');
  return url.href;
}

function readNumber(
  given: Record<string, unknown>,
  name: string,
  otherwise: number,
  { min, max }: { min: number; max: number },
): number {
  const value = given[name] ?? otherwise;
  if (typeof value !== 'number' || !(value >= min && value <= max))
    fail(name, `must be a number from ${min} to ${max}`);
  return value;
}

function fail(name: string, problem: string): never {
  throw new TypeError(`verifier: ${name} ${problem}`);
}
