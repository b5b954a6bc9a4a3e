import type { Demands } from './demands.js';

/** The caller, as the claims of the access token say (RFC 7519, RFC 7662). */
interface TokenClaims {
  /** The `uid` of the user. */
  readonly sub: string;
  /** The session. It ends for all of its tokens at once. */
  readonly sid: string;
  readonly jti: string;
  readonly iss: string;
  readonly aud: string | readonly string[];
  /** Seconds since 1970. */
  readonly iat: number;
  /** Seconds since 1970. */
  readonly exp: number;
  readonly tenant_id: string;
  readonly org_unit_id: string | null;
  /** How the user was authenticated (RFC 8176), for example `['pwd', 'otp']`. */
  readonly amr: readonly string[];
  /**
   * The last credential check of the session when the token was issued, in seconds since 1970 (RFC 9470). Missing in a token of
   * version 1.0.0 of the service.
   */
  readonly auth_time?: number | undefined;
  /** `urn:portal:acr:1` for one factor, `urn:portal:acr:2` for two or a passkey. Missing in a token of version 1.0.0. */
  readonly acr?: string | undefined;
  /** The token is bound to the key with this thumbprint (RFC 9449 §6, RFC 7638), and the caller has proved to have the key. */
  readonly cnf?: { readonly jkt: string } | undefined;
  /** When the guard asked the service, or checked the signature. Seconds since 1970. */
  readonly verified_at: number;
}

/** The service has confirmed the token at `verified_at`. */
export interface IntrospectedAuth extends TokenClaims {
  readonly verified_by: 'introspection';
  readonly username: string;
  readonly is_admin: boolean;
  /** The names of the groups of the user. Undefined: version 1.0.0 of the service has no groups. */
  readonly groups?: readonly string[] | undefined;
}

/** The token was valid when it was issued. A logout or a change of rights since then is not seen. */
export interface SignedAuth extends TokenClaims {
  readonly verified_by: 'signature';
  /** Unknown: only the service knows it. */
  readonly username?: undefined;
  /** Unknown: only the service knows it. */
  readonly is_admin?: undefined;
  /** Unknown: only the service knows it. */
  readonly groups?: undefined;
}

export type Auth = IntrospectedAuth | SignedAuth;

export type InvalidReason =
  | 'malformed'
  | 'algorithm'
  | 'type'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'not_yet_valid'
  | 'signature'
  | 'not_active'
  /** `check`: the request has no token. */
  | 'missing'
  /** The token is bound to a key, and was not sent with a proof of it (RFC 9449 §7.1). */
  | 'bound'
  /** The token is bound to no key, but was sent as one that is, or `requireBinding` demands it. */
  | 'unbound'
  /** The proof is missing, wrong, of another key, or was used before. */
  | 'proof';

/** `one_factor`: a second factor is demanded. `too_old`: the last credential check is too long ago. Or it is unknown. */
export type InsufficientReason = 'one_factor' | 'too_old';

/** The token is valid, and its user has to prove more, or to sign in again (RFC 9470). Only where something is demanded. */
export interface Insufficient extends Demands {
  readonly status: 'insufficient';
  readonly reason: InsufficientReason;
}

export type UnavailableReason =
  | 'connection'
  | 'timeout'
  | 'rate_limited'
  | 'client_refused'
  | 'unexpected_status'
  | 'malformed_answer'
  | 'answer_too_long'
  /** A bound token, and neither `origins` nor `trustForwarded` says which URL its client has asked. */
  | 'origin_unknown'
  /** `replayStore` has failed. */
  | 'replay_store';

export interface Unavailable {
  readonly status: 'unavailable';
  readonly reason: UnavailableReason;
  /** The URL that was asked. Empty when nothing was asked. */
  readonly url: string;
  /** The wait that the service asked for, if it asked for one. */
  readonly retryAfterSeconds?: number;
}

/** The guard never guesses: a token that cannot be checked is neither valid nor invalid. */
export type Verdict =
  | { readonly status: 'valid'; readonly auth: Auth }
  | { readonly status: 'invalid'; readonly reason: InvalidReason }
  | Insufficient
  | Unavailable;

/** @throws Error when no adapter of this package guards the route, which is an error of the program */
export function authOf(request: { readonly auth?: unknown }): Auth {
  if (request.auth === undefined) throw new Error('request.auth is missing: this route is not guarded');
  return request.auth as Auth;
}
