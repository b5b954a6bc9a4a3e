import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A client with a key: it makes the proofs that a request with a bound token needs (RFC 9449), each for one request. */
export class BoundClient {
  #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  #header = encoded({ typ: 'dpop+jwt', alg: 'ES256', jwk: this.#keys.publicKey.export({ format: 'jwk' }) });

  /** @param {string} origin that of SYSTEM_URL */
  constructor(origin) {
    this.origin = origin;
  }

  proof(htm, path, token) {
    const claims = { jti: randomUUID(), htm, htu: this.origin + path, iat: Math.floor(Date.now() / 1000) };
    const ath = token && { ath: createHash('sha256').update(token).digest('base64url') };
    const text = `${this.#header}.${encoded({ ...claims, ...ath })}`;
    const signature = sign('sha256', Buffer.from(text), {
      key: this.#keys.privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return `${text}.${signature.toString('base64url')}`;
  }
}
