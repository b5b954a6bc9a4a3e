import type { ClientClock } from './client-clock.js';
import { KeyError, type KeyProblem, ServiceError } from './failures.js';
import { isRecord } from './storage.js';
import type { KeyPair, Keys } from './token-keys.js';

/** A key with its public half as a proof shows it (RFC 7517) and its thumbprint (RFC 7638). */
interface ProofKey extends Pick<KeyPair, 'privateKey'> {
  readonly jwk: Record<string, unknown>;
  readonly jkt: string;
}

/** The requests whose answer has the first tokens of a session, or replaces all of them. */
const issuing = /\/(?:login|login\/passkey|login\/external|otp-verify|user\/change-password)$/;
/** The `Date` of an answer has whole seconds, and the answer takes a moment. */
const noiseMs = 2500;
/** A token that ends so soon is renewed before it is sent. */
const dueMs = 10_000;
/** A younger token is not renewed because a service refuses it: that service has another reason. */
const oldMs = 60_000;

/**
 * Proofs of possession (RFC 9449): for each request with a bound token, and for each request for tokens, the signature of a key
 * that does not leave this browser. A copy of the tokens is worthless without the key.
 */
export class Proofs {
  /** Milliseconds that the clock of the service is ahead of the clock here. Undefined: no answer has told. */
  private ahead: number | undefined;
  private latest: ProofKey | undefined;

  constructor(
    private readonly keys: Keys,
    private readonly clock: ClientClock,
  ) {}

  /** Why tokens cannot be bound here, or undefined. */
  async problem(): Promise<KeyProblem | undefined> {
    const key = await this.stored().catch(() => 'no-storage' as const);
    return typeof key === 'string' ? key : undefined;
  }

  /**
   * Sends a request to the service, with a proof where one belongs. The service checks proofs before anything else, so a request
   * whose proof it has refused can be sent again.
   */
  async send(request: Request, send: (request: Request) => Promise<Response>): Promise<Response> {
    const sent = async (one: Request): Promise<Response> => {
      const answer = await send(one);
      this.noteDate(answer.headers.get('date'));
      return answer;
    };
    const token = bearerOf(request);
    const bound = token !== undefined && isBound(token);
    if (!bound && !issuing.test(new URL(request.url).pathname)) return sent(request);

    const key = bound ? await this.keyOf(token) : await this.keyForTokens();
    if (typeof key === 'string') {
      const answer = await sent(request);
      if (await isRefusedProof(answer)) throw new KeyError(key);
      return answer;
    }
    const ahead = this.ahead;
    const proven = async () => sent(await this.proven(request.clone(), key, token));
    let answer = await proven();
    // The refusal has told the time of the service.
    if (this.ahead !== ahead && (await isRefusedProof(answer))) answer = await proven();
    // The service may have another address than it knows of. It then refuses the request without a proof, if it demands one.
    return !bound && (await isRefusedProof(answer)) ? sent(request) : answer;
  }

  /** The headers that send a token to any service. */
  async headersFor(url: string, method: string, token: string): Promise<Record<string, string>> {
    if (!isBound(token)) return { authorization: `Bearer ${token}` };
    const dpop = await this.proof(await this.keyOf(token), { url, method, token });
    return { authorization: `DPoP ${token}`, dpop };
  }

  /** The token ends in a moment. False where the time of the service is unknown. */
  isDue(token: string): boolean {
    const { exp } = claimsOf(token);
    return this.ahead !== undefined && typeof exp === 'number' && exp * 1000 - dueMs <= this.now();
  }

  /** The token is old enough for a refusal to mean that it has ended. */
  isOld(token: string): boolean {
    const { iat } = claimsOf(token);
    return this.ahead === undefined || typeof iat !== 'number' || iat * 1000 + oldMs <= this.now();
  }

  private now(): number {
    return this.clock.now() + (this.ahead ?? 0);
  }

  private noteDate(header: string | null): void {
    const found = Date.parse(header ?? '') - this.clock.now();
    if (!Number.isNaN(found) && !(Math.abs(found - (this.ahead ?? Infinity)) <= noiseMs)) this.ahead = found;
  }

  /** A key of a former sign-in may be gone from the store, and another tab has made a new one. */
  private async keyForTokens(): Promise<ProofKey | KeyProblem> {
    const key = await this.stored().catch((error: unknown) => {
      // The store of a caller fails loudly. A browser may refuse to store a key, as some do in a private window.
      if (typeof this.keys !== 'string' && this.keys.optional !== true) throw error;
      return 'no-storage' as const;
    });
    if (typeof key !== 'string') this.latest = key;
    return key;
  }

  /** @throws ServiceError as the service would refuse the token: its key is gone, so nothing can use it any more */
  private async keyOf(token: string): Promise<ProofKey> {
    const jkt = jktOf(token);
    const { latest } = this;
    if (latest !== undefined && latest.jkt === jkt) return latest;
    const key = await this.stored();
    if (typeof key === 'string' || key.jkt !== jkt) {
      throw new ServiceError('AUTH_401011', 'the key of this session is gone', 401, undefined, {});
    }
    this.latest = key;
    return key;
  }

  private async stored(): Promise<ProofKey | KeyProblem> {
    if (typeof this.keys === 'string') return this.keys;
    const { privateKey, publicKey } = await this.keys.pair();
    const { crv, kty, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
    const jwk = { crv, kty, x, y };
    return { privateKey, jwk, jkt: await hashOf(JSON.stringify(jwk)) };
  }

  private async proven(request: Request, key: ProofKey, token: string | undefined): Promise<Request> {
    const sent = token !== undefined && isBound(token) ? withBound(request, token) : request;
    const { url, method } = request;
    sent.headers.set('dpop', await this.proof(key, { url, method, token }));
    return sent;
  }

  private async proof(
    { privateKey, jwk }: ProofKey,
    { url, method, token }: { readonly url: string; readonly method: string; readonly token: string | undefined },
  ): Promise<string> {
    const { origin, pathname } = new URL(url, globalThis.location?.href);
    const claims = {
      jti: base64url(crypto.getRandomValues(new Uint8Array(16))),
      ...{ htm: method, htu: origin + pathname, iat: Math.floor(this.now() / 1000) },
      ...(token !== undefined && { ath: await hashOf(token) }),
    };
    const text = `${encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk })}.${encoded(claims)}`;
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' };
    const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(text));
    return `${text}.${base64url(new Uint8Array(signature))}`;
  }
}

/**
 * A refresh token goes into the body: a replica of version 1.0.0, which can still run during an upgrade, does not know the scheme
 * DPoP, and would take the session for ended.
 */
function withBound(request: Request, token: string): Request {
  if (!new URL(request.url).pathname.endsWith('/refresh')) {
    request.headers.set('authorization', `DPoP ${token}`);
    return request;
  }
  const headers = new Headers(request.headers);
  headers.delete('authorization');
  headers.set('content-type', 'application/json');
  return new Request(request, { headers, body: JSON.stringify({ refresh_token: token }) });
}

/** Whether the token works with the proof of a key only. */
export const isBound = (token: string): boolean => jktOf(token) !== undefined;

function jktOf(token: string): unknown {
  const { cnf } = claimsOf(token);
  return isRecord(cnf) ? cnf.jkt : undefined;
}

/** The claims of a token, which only the service can verify. A text that is no token has none. */
function claimsOf(token: string): Record<string, unknown> {
  try {
    const [, payload = ''] = token.split('.');
    const claims: unknown = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/')));
    return isRecord(claims) ? claims : {};
  } catch {
    return {};
  }
}

function bearerOf({ headers }: Request): string | undefined {
  return /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
}

async function isRefusedProof(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false;
  const body: unknown = await answer
    .clone()
    .json()
    .catch(() => undefined);
  return isRecord(body) && body.error_code === 'AUTH_401011';
}

const encoded = (value: object): string => base64url(new TextEncoder().encode(JSON.stringify(value)));

async function hashOf(text: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
