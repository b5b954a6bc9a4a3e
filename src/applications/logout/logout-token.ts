import { signedJwt } from '../../platform/crypto/signed-jwt';
import type { OpenIdProviderSettings } from '../openid-settings';

export interface LogoutClaims {
  /** Also that of each repetition, so that a receiver recognises it. */
  readonly jti: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly sid: string;
}

/** A receiver whose clock differs, or that is slow, still accepts it. OpenID Connect recommends at most two minutes. */
const lifetimeSeconds = 120;
const event = 'http://schemas.openid.net/event/backchannel-logout';

/** A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). It has no `nonce`, so that nobody takes it for an ID token. */
export function logoutToken(claims: LogoutClaims, { issuer, keys }: OpenIdProviderSettings, now: Date): string {
  const iat = Math.floor(now.getTime() / 1000);
  const payload = {
    iss: issuer,
    sub: claims.userId,
    aud: claims.applicationId,
    iat,
    exp: iat + lifetimeSeconds,
    jti: claims.jti,
    sid: claims.sid,
    events: { [event]: {} },
  };
  return signedJwt('logout+jwt', payload, keys[0]);
}
