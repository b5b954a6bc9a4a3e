import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';

export interface PublishedKey {
  readonly algorithm: 'ES256' | 'RS256';
  readonly key: KeyObject;
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT for another system, which verifies it with the keys that the OpenID provider publishes. */
export function signedJwt(typ: string, claims: object, { algorithm, key }: PublishedKey): string {
  const signed = `${part({ alg: algorithm, typ, kid: keyIdOf(key) })}.${part(claims)}`;
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
