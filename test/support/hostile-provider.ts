import { createHash, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, shut, urlOf } from './loopback';

export type Claims = Record<string, unknown>;

export interface Reply {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

/** `hang` never answers. */
export type Answer = Reply | 'hang';
type Endpoint = 'discovery' | 'keys' | 'token' | 'userinfo';

/** What the provider says other than an honest one. Each member gets what an honest provider would say. */
export interface Lies {
  readonly discovery?: (honest: Claims) => Answer;
  readonly keys?: (honest: { keys: Claims[] }) => Answer;
  readonly token?: (honest: Claims) => Answer;
  readonly userinfo?: (honest: Claims) => Answer;
  /** The claims of the ID token. */
  readonly claims?: (honest: Claims) => Claims;
  /** The ID token as a whole. */
  readonly idToken?: (claims: Claims, provider: HostileProvider) => string;
}

/** The header of a token. A text is the secret of an HMAC. */
export interface Header extends Claims {
  readonly alg?: string;
  readonly kid?: string;
  readonly key?: KeyObject | string;
}

interface Granted {
  readonly claims: Claims;
  readonly challenge: string;
  readonly redirectUri: string;
}

const base64url = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/**
 * An OpenID provider that says whatever a test wants. Without lies it is an honest one, which refuses a wrong verifier of PKCE, a
 * wrong secret and a code that it has seen.
 */
export class HostileProvider {
  lies: Lies = {};
  /** A test changes it, so that the service remembers nothing of the former client. */
  clientId = 'portal';
  readonly clientSecret = 'secret-of-the-portal-at-the-provider';
  readonly kid = 'first';
  key = rsaKey();
  /** What was asked, the newest last. */
  readonly asked: Endpoint[] = [];
  private readonly granted = new Map<string, Granted>();
  private readonly tokens = new Map<string, Claims>();

  private constructor(
    private readonly server: Server,
    private readonly now: () => Date,
  ) {}

  /** @param now the clock of the service */
  static async start(now: () => Date): Promise<HostileProvider> {
    const server = createServer();
    const provider = new HostileProvider(server, now);
    server.on('request', (request, response) => void provider.serve(request, response));
    await listen(server);
    return provider;
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  get issuer(): string {
    return urlOf(this.server);
  }

  get seconds(): number {
    return Math.floor(this.now().getTime() / 1000);
  }

  /**
   * What the browser brings back from the page of the provider, where somebody has signed in.
   * @param redirectTo where the service sent the browser
   */
  signIn(redirectTo: string | URL, person: Claims): Record<string, string> {
    const { searchParams } = new URL(redirectTo);
    const asked = (name: string) => searchParams.get(name) ?? '';
    if (asked('code_challenge_method') !== 'S256') throw new Error('the service did not ask for PKCE with S256');
    const code = randomUUID();
    const claims = { nonce: asked('nonce'), aud: this.clientId, ...person };
    this.granted.set(code, { claims, challenge: asked('code_challenge'), redirectUri: asked('redirect_uri') });
    return { code, state: asked('state'), iss: this.issuer };
  }

  idToken(claims: Claims, { alg = 'RS256', kid = this.kid, key = this.key, ...header }: Header = {}): string {
    const signed = `${base64url({ alg, kid, ...header })}.${base64url(claims)}`;
    if (alg === 'none') return `${signed}.`;
    if (alg.startsWith('HS')) return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  }

  /** @param claims what differs from an honest token; undefined leaves a claim out */
  logoutToken(claims: Claims, header: Header = {}): string {
    const { seconds: iat } = this;
    const honest = { iss: this.issuer, aud: this.clientId, iat, exp: iat + 120, jti: randomUUID() };
    return this.idToken({ ...honest, events: { [logoutEvent]: {} }, ...claims }, { typ: 'logout+jwt', ...header });
  }

  publicKey(kid = this.kid, key = this.key): Claims {
    return { ...publicJwk(key), kid, alg: 'RS256', use: 'sig' };
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = this.answer(request, new URLSearchParams(await text(request)));
    if (answer === 'hang') return;
    const { status = 200, headers = {}, body = '' } = answer;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  private answer({ url = '', headers }: IncomingMessage, form: URLSearchParams): Answer {
    const { discovery, keys, token, userinfo } = this.lies;
    const say = <T>(what: Endpoint, honest: T, lie: ((honest: T) => Answer) | undefined): Answer => {
      this.asked.push(what);
      return lie === undefined ? { body: honest } : lie(honest);
    };
    if (url === '/.well-known/openid-configuration') return say('discovery', this.document(), discovery);
    if (url === '/keys') return say('keys', { keys: [this.publicKey()] }, keys);
    if (url === '/token') {
      const honest = this.exchange(form, headers.authorization ?? '');
      return 'error' in honest ? { status: 400, body: honest } : say('token', honest, token);
    }
    const claims = this.tokens.get((headers.authorization ?? '').replace('Bearer ', ''));
    if (url === '/userinfo' && claims !== undefined) return say('userinfo', claims, userinfo);
    return { status: 404, body: { error: 'not_found' } };
  }

  private document(): Claims {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
    };
  }

  private exchange(form: URLSearchParams, authorization: string): Claims {
    // RFC 6749 section 2.3.1: both parts are form-encoded.
    const basic = decodeURIComponent(Buffer.from(authorization.replace('Basic ', ''), 'base64').toString());
    const knows = form.get('client_secret') === this.clientSecret || basic === `${this.clientId}:${this.clientSecret}`;
    if (!knows) return { error: 'invalid_client' };
    const code = form.get('code') ?? '';
    const granted = this.granted.get(code);
    this.granted.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (granted?.challenge !== challenge || granted.redirectUri !== form.get('redirect_uri')) {
      return { error: 'invalid_grant' };
    }
    const { seconds: iat } = this;
    const honest = { iss: this.issuer, iat, exp: iat + 300, auth_time: iat, ...granted.claims };
    const claims = this.lies.claims?.(honest) ?? honest;
    const accessToken = randomUUID();
    this.tokens.set(accessToken, granted.claims);
    const id_token = this.lies.idToken?.(claims, this) ?? this.idToken(claims);
    return { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token };
  }
}

export function rsaKey(): KeyObject {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

function publicJwk(key: KeyObject): Claims {
  const { kty, n, e } = key.export({ format: 'jwk' });
  return { kty, n, e };
}
