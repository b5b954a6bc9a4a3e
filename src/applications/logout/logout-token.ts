import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
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

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). It has no `nonce`, so that nobody takes it for an ID token. */
export function logoutToken(claims: LogoutClaims, { issuer, keys }: OpenIdProviderSettings, now: Date): string {
  const [{ algorithm, key }] = keys;
  const iat = Math.floor(now.getTime() / 1000);
  const header = part({ alg: algorithm, typ: 'logout+jwt', kid: keyIdOf(key) });
  const payload = part({
    iss: issuer,
    sub: claims.userId,
    aud: claims.applicationId,
    iat,
    exp: iat + lifetimeSeconds,
    jti: claims.jti,
    sid: claims.sid,
    events: { [event]: {} },
  });
  const signed = `${header}.${payload}`;
  // ES256 is r and s one after the other (RFC 7518 §3.4), not the form of X.509. RSA ignores the encoding.
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

/** As the provider publishes it: the thumbprint of the public key (RFC 7638). */
function keyIdOf(key: KeyObject): string {
  const { kty, crv, x, y, e, n } = createPublicKey(key).export({ format: 'jwk' });
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n };
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
