import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

import type { Ports } from '../dist/ports.js';

export const issuer = 'https://auth.example.com';
export const audience = 'portal';
export const introspectionUrl = `${issuer}/introspect`;
export const jwksUrl = `${issuer}/.well-known/jwks.json`;
export const client = { introspectionUrl, clientId: 'client-1', clientSecret: 'secret-of-client-1' };

export const asking = { mode: 'introspection', issuer, audience, ...client } as const;
export const verifying = { mode: 'jwks', issuer, audience, jwksUrl } as const;

export type Payload = Record<string, unknown>;

/** A pair of keys that the service signs with. */
export interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function newKey(kid: string, alg = 'ES256'): Promise<Key> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** A client with a key of its own, which makes proofs (RFC 9449). */
export interface Prover {
  readonly cnf: { readonly jkt: string };
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
  proof(claims: Payload, header?: Payload): Promise<string>;
}

export async function newProver(alg = 'ES256'): Promise<Prover> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    ...{ cnf: { jkt: await calculateJwkThumbprint(jwk) }, jwk, privateKey },
    proof: (claims, header) =>
      new SignJWT({ jti: randomUUID(), ...claims })
        .setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey),
  };
}

export const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64url');

/** The service, its keys and the clocks. A test counts what the guard asked. */
export class World {
  epochSeconds = 1_800_000_000;
  steadyMs = 5_000;
  /** The keys that the service publishes. */
  published: readonly Key[] = [];
  /** Tokens that the service has ended. */
  readonly ended = new Set<string>();
  /** Replaces the answer of the service. */
  answer: ((url: string, body: URLSearchParams) => Response | Promise<Response>) | undefined;
  readonly asked: { readonly url: string; readonly authorization: string | null }[] = [];
  readonly waits: number[] = [];
  private jti = 0;

  readonly ports: Ports = {
    epochSeconds: () => this.epochSeconds,
    steadyMs: () => this.steadyMs,
    wait: (milliseconds) => {
      this.waits.push(milliseconds);
      this.steadyMs += milliseconds;
      return Promise.resolve();
    },
    after: () => () => undefined,
    fetch: async (url, init) => {
      this.asked.push({ url, authorization: new Headers(init.headers).get('authorization') });
      const body = new URLSearchParams((init.body as string | undefined) ?? '');
      if (this.answer !== undefined) return this.answer(url, body);
      return url === jwksUrl ? this.keySet() : this.introspection(body.get('token')!);
    },
  };

  advance(seconds: number): void {
    this.epochSeconds += seconds;
    this.steadyMs += seconds * 1000;
  }

  payload(changes: Payload = {}): Payload {
    const jti = `jti-${(this.jti += 1)}`;
    const times = { iat: this.epochSeconds, exp: this.epochSeconds + 900 };
    const scope = { tenant_id: 'root', org_unit_id: null, amr: ['pwd'] };
    return {
      sub: 'user-1',
      jti,
      sid: 'session-1',
      token_use: 'access',
      iss: issuer,
      aud: audience,
      ...times,
      ...scope,
      ...changes,
    };
  }

  /** A token with the claims of the service, signed by nobody: enough where the service judges. */
  unsigned(changes: Payload = {}, header: Payload = { alg: 'HS256', typ: 'JWT' }): string {
    return [base64url(header), base64url(this.payload(changes)), 'c2lnbmF0dXJl'].join('.');
  }

  signed(key: Key, changes: Payload = {}, header: Payload = {}): Promise<string> {
    const jwt = new SignJWT(this.payload(changes));
    return jwt.setProtectedHeader({ alg: key.alg, typ: 'JWT', kid: key.kid, ...header }).sign(key.privateKey);
  }

  keySet(): Response {
    return Response.json({ keys: this.published.map(({ jwk }) => jwk) });
  }

  /** What `/introspect` of the service answers. */
  introspection(token: string, changes: Payload = {}): Response {
    if (this.ended.has(token)) return Response.json({ active: false });
    const { token_use, ...claims } = claimsOf(token);
    return Response.json({
      active: true,
      ...claims,
      token_type: token_use,
      username: 'ann',
      is_admin: false,
      ...changes,
    });
  }
}

export function claimsOf(token: string): Payload {
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Payload;
}

export function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
