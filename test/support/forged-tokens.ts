import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';

/** A new private key for ES256, as `JWT_PRIVATE_KEY` takes it. */
export const newKeyPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export interface Signer {
  /** A token with other claims, of the key of the service unless another one is named. */
  (payload: JWTPayload, header?: object, key?: string): Promise<string>;
}

/** @param pem the key of the service */
export const signer =
  (pem: string, access: string): Signer =>
  (payload, header = {}, key = pem) =>
    new SignJWT(payload)
      .setProtectedHeader({ ...decodeProtectedHeader(access), alg: 'ES256', ...header })
      .sign(createPrivateKey(key));

/** What a check with the key set has to refuse, by what is wrong with it. */
export async function forgedTokens(
  pem: string,
  { access, refresh }: { readonly access: string; readonly refresh: string },
): Promise<Record<string, string>> {
  const sign = signer(pem, access);
  const [claims, header] = [decodeJwt(access), decodeProtectedHeader(access)];
  const [head, body, signature] = access.split('.') as [string, string, string];
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' });
  const hs256 = `${encoded({ ...header, alg: 'HS256' })}.${body}`;
  return {
    refresh,
    'refresh token of version 1.0.0': await sign({ ...decodeJwt(refresh), aud: 'portal' }),
    'refresh token of the seven days': await sign({ ...decodeJwt(refresh), aud: 'portal' }, { typ: 'rt+jwt' }),
    'type of a refresh token': await sign(claims, { typ: 'rt+jwt' }),
    issuer: await sign({ ...claims, iss: 'http://other.test' }),
    audience: await sign({ ...claims, aud: 'shop' }),
    'no audience': await sign({ ...claims, aud: undefined }),
    expired: await sign({ ...claims, exp: claims.iat! - 60, iat: claims.iat! - 120 }),
    'no expiry': await sign({ ...claims, exp: undefined }),
    'alg none': `${encoded({ ...header, alg: 'none' })}.${body}.`,
    'HS256 with the public key': `${hs256}.${createHmac('sha256', publicPem).update(hs256).digest('base64url')}`,
    'another key': await sign(claims, {}, newKeyPem()),
    'an unknown key': await sign(claims, { kid: 'unknown' }),
    'a changed claim': `${head}.${encoded({ ...claims, sub: 'root' })}.${signature}`,
    nonsense: 'x',
    nothing: '',
  };
}
