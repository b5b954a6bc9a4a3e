/** What the service needs to speak to a provider as a client. */
export interface ProviderClient {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
}

/** What the discovery document of an issuer says and the service uses. */
export interface ProviderFacts {
  readonly issuer: string;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string | undefined;
  /** Of PKCE. Undefined: the document does not tell. */
  readonly codeChallengeMethods: readonly string[] | undefined;
  readonly scopesSupported: readonly string[] | undefined;
  readonly claimsSupported: readonly string[] | undefined;
  readonly hasUserinfo: boolean;
  /** Whether it tells the end of sessions (OpenID Connect Back-Channel Logout). */
  readonly tellsLogout: boolean;
}

/** One sign-in of one browser. `state`, `nonce` and `verifier` are random and used once. */
export interface SignInRequest {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  readonly scopes: readonly string[];
  readonly acrValues: readonly string[];
  /** Asks for a new proof of identity: `max_age=0` and `prompt=login`. */
  readonly fresh: boolean;
}

/** The answer of a provider in the query of the callback, and the request that it belongs to. */
export interface ProviderAnswer {
  readonly query: URLSearchParams;
  readonly request: SignInRequest;
  /** Claims that the userinfo endpoint is asked for when the ID token lacks them. */
  readonly wantedClaims: readonly string[];
}

export type Claims = Readonly<Record<string, unknown>>;

/** What the provider vouches for, verified. */
export interface VerifiedAnswer {
  /** 1 to 255 characters. */
  readonly sub: string;
  /** Those of the ID token, and of userinfo where the ID token has none. */
  readonly claims: Claims;
  readonly sid: string | undefined;
  readonly amr: readonly string[];
  readonly acr: string | undefined;
  /** When the provider asked the person last. */
  readonly authTime: Date | undefined;
}

/** A verified logout token: the sessions of one `sub`, or the one session `sid`, end. */
export interface LogoutClaims {
  readonly sub: string | undefined;
  readonly sid: string | undefined;
  readonly jti: string;
  readonly expires: Date;
}

/**
 * The answer, or the token, is not what the request or the protocol asks for. `reason` is a fixed word for logs and metrics,
 * and nothing of what was sent.
 */
export class ProviderRefused extends Error {
  override readonly name = 'ProviderRefused';

  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`the answer of the identity provider was refused: ${reason}`, options);
  }
}

/** The provider does not answer, or answers with what is no answer at all. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';

  constructor(
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super(`the identity provider cannot be asked: ${reason}`, options);
  }
}

/**
 * The protocol with a provider (OpenID Connect Core 1.0). Every method throws ProviderRefused or ProviderAway and nothing
 * else.
 */
export abstract class ProviderConnection {
  /** Asks the issuer anew, and loads its keys. For the administration, before a provider is stored. */
  abstract discover(client: ProviderClient): Promise<ProviderFacts>;

  /**
   * Whether the provider accepts `client_id` and `client_secret`, found out by a request with a wrong code. Nobody signs in.
   */
  abstract acceptsClient(client: ProviderClient, redirectUri: string): Promise<boolean>;

  /** The address at the provider to which the browser is sent. */
  abstract authorizationUrl(client: ProviderClient, request: SignInRequest): Promise<string>;

  /** Redeems the code of an answer and verifies everything that the provider says. */
  abstract exchange(client: ProviderClient, answer: ProviderAnswer): Promise<VerifiedAnswer>;

  /** Verifies a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.6), apart from its single use. */
  abstract verifyLogoutToken(client: ProviderClient, token: string): Promise<LogoutClaims>;
}
