import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';

/** The public key of a client, from the header of a proof. */
export interface ProofKey {
  /** The thumbprint (RFC 7638), to which tokens are bound. */
  readonly thumbprint: string;
  isSignatureOf(signed: string, signature: Buffer): boolean;
}

/** Members of private and symmetric keys (RFC 7518 §6). A client that sends one has given its key away. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const coordinate = /^[\w-]{43}$/;
/** Of both algorithms. */
const signatureBytes = 64;

/**
 * Reads the header of a proof: `typ`, one of two algorithms, and the public key that belongs to it. Extensions that must be
 * understood (`crit`) are refused, because this service understands none (RFC 7515 §4.1.11).
 * @returns undefined for any other header
 */
export function proofKeyOf(header: Readonly<Record<string, unknown>>): ProofKey | undefined {
  const { typ, alg, jwk, crit } = header;
  if (typ !== 'dpop+jwt' || crit !== undefined || typeof jwk !== 'object' || jwk === null) return undefined;
  const members = jwk as Readonly<Record<string, unknown>>;
  if (secretMembers.some((member) => members[member] !== undefined)) return undefined;
  const { kty, crv, x, y } = members;
  if (typeof x !== 'string' || !coordinate.test(x)) return undefined;
  if (alg === 'EdDSA' && kty === 'OKP' && crv === 'Ed25519') return keyOf({ crv, kty, x }, null);
  const isPoint = kty === 'EC' && crv === 'P-256' && typeof y === 'string' && coordinate.test(y);
  return alg === 'ES256' && isPoint ? keyOf({ crv, kty, x, y }, 'sha256') : undefined;
}

/** Synchronous: `jose` waits behind bcrypt in the thread pool of libuv (ADR 0033). */
function keyOf(jwk: Readonly<Record<string, string>>, digest: 'sha256' | null): ProofKey | undefined {
  let key: KeyObject;
  try {
    // Refuses a point that is not on the curve.
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
  const input = { key, dsaEncoding: 'ieee-p1363' } as const;
  return {
    thumbprint: thumbprintOf(key),
    isSignatureOf: (signed, signature) =>
      signature.length === signatureBytes && verify(digest, Buffer.from(signed), input, signature),
  };
}

/** Of the exported key: a coordinate may have several spellings, and one key must have one thumbprint. */
function thumbprintOf(key: KeyObject): string {
  const { crv, kty, x, y } = key.export({ format: 'jwk' });
  // The required members in lexicographic order (RFC 7638 §3.2, RFC 8037 §2).
  return hash('sha256', JSON.stringify(kty === 'EC' ? { crv, kty, x, y } : { crv, kty, x }), 'base64url');
}
