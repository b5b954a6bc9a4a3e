import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import type { Clock } from '../../src/shared/clock';
import { testSettings } from './settings';

type Json = Record<string, unknown>;

const encoded = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
export const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

/** What differs from a good proof. `undefined` removes a member. */
export interface ProofChanges {
  readonly header?: Json;
  readonly claims?: Json;
  /** The key that signs, if it is not the one of the header. */
  readonly signedBy?: KeyObject;
}

/** The private key of a client, and the proofs that it makes (RFC 9449), without any code of the service. */
export class ProofMaker {
  private constructor(
    readonly algorithm: 'ES256' | 'EdDSA',
    readonly privateKey: KeyObject,
    readonly jwk: Json,
    private readonly clock: Pick<Clock, 'now'>,
    private readonly origin: string,
  ) {}

  /** @param clock that of the service */
  static make(
    clock: Pick<Clock, 'now'>,
    { algorithm = 'ES256', origin = testSettings.SYSTEM_URL }: { algorithm?: 'ES256' | 'EdDSA'; origin?: string } = {},
  ): ProofMaker {
    const { privateKey, publicKey } =
      algorithm === 'ES256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
    return new ProofMaker(algorithm, privateKey, publicKey.export({ format: 'jwk' }), clock, origin);
  }

  /** The same key, for requests to another origin. */
  at(origin: string): ProofMaker {
    return new ProofMaker(this.algorithm, this.privateKey, this.jwk, this.clock, origin);
  }

  /** The thumbprint (RFC 7638). */
  get thumbprint(): string {
    const { crv, kty, x, y } = this.jwk;
    return sha256(JSON.stringify({ crv, kty, x, y }));
  }

  /** @param token the access token that the request presents */
  proof(method: string, path: string, token?: string, { header, claims, signedBy }: ProofChanges = {}): string {
    const protectedHeader = { typ: 'dpop+jwt', alg: this.algorithm, jwk: this.jwk, ...header };
    const payload = {
      jti: randomUUID(),
      htm: method,
      htu: this.origin + path.split('?')[0]!,
      iat: Math.floor(this.clock.now().getTime() / 1000),
      ...(token !== undefined && { ath: sha256(token) }),
      ...claims,
    };
    return this.signed(protectedHeader, payload, signedBy);
  }

  signed(header: Json, payload: Json, key = this.privateKey): string {
    const text = `${encoded(header)}.${encoded(payload)}`;
    const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return `${text}.${sign(digest, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  }

  /** The header of a request for tokens. */
  headers(method: string, path: string): { dpop: string } {
    return { dpop: this.proof(method, path) };
  }

  /** The headers of a request with a bound token. */
  with(token: string, method: string, path: string, changes?: ProofChanges): { authorization: string; dpop: string } {
    return { authorization: `DPoP ${token}`, dpop: this.proof(method, path, token, changes) };
  }
}
