export type TokenUse = 'access' | 'refresh';

/**
 * How the session was authenticated (RFC 8176): `pwd`, and `otp` when a code was used; or `hwk`, `user` and `mfa` for a
 * passkey, which verifies the user. `ext` is a sign-in at an identity provider, with `mfa` where it has proven two factors. `device` is no method of the RFC: a trusted device replaced the code, so the session
 * has no second factor.
 */
export type AuthenticationMethod = 'pwd' | 'ext' | 'otp' | 'device' | 'hwk' | 'user' | 'mfa';

/** How strongly a session was authenticated (docs/spec/extensions.md#acr): one factor; or two factors, or a passkey. */
export type AuthenticationContext = 'urn:portal:acr:1' | 'urn:portal:acr:2';

/** The claims of our tokens (docs/spec/decisions.md#4). A token that lacks one of them is refused, apart from the last three. */
export interface TokenPayload {
  readonly sub: string;
  readonly jti: string;
  /** The session: the jti of its first refresh token. That token's row decides about the whole session (ADR 0005). */
  readonly sid: string;
  readonly token_use: TokenUse;
  readonly iss: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly tenant_id: string;
  readonly org_unit_id: string | null;
  readonly amr: readonly AuthenticationMethod[];
  // Only access tokens have these two claims (docs/spec/extensions.md#acr), and not those of version 1.0.0.
  /** The last check of a credential, in seconds. Also missing in a session of a version that did not store it. */
  readonly auth_time?: number;
  readonly acr?: AuthenticationContext;
  /** Only in tokens that are bound to a key: its thumbprint (RFC 9449 §6.1). */
  readonly cnf?: { readonly jkt: string };
}

/** The claims of a JWT before any of them was checked. */
export type Claims = Partial<Record<keyof TokenPayload, unknown>>;

export function isTokenPayload(claims: Claims): boolean {
  const texts = [claims.sub, claims.jti, claims.sid, claims.iss, claims.aud, claims.tenant_id];
  return (
    texts.every((value) => typeof value === 'string') &&
    (claims.token_use === 'access' || claims.token_use === 'refresh') &&
    Number.isInteger(claims.iat) &&
    Number.isInteger(claims.exp) &&
    Array.isArray(claims.amr)
  );
}
