import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, compactVerify, EmbeddedJWK, type JWK } from 'jose';

import { isCompact, parts } from './access-token.js';
import type { CheckedRequest } from './request.js';
import { urlOf } from './url-text.js';

/** The algorithms of proofs, as the service accepts them. */
export const proofAlgorithms = ['ES256', 'EdDSA'];

/** Ours have about 500 characters. */
const maxLength = 4096;
/** How far the clock of the client and that of this computer may differ. */
const windowSeconds = 60;

/** A proof whose request, time, token and signature are right. */
export interface Proof {
  /** The thumbprint of its key (RFC 7638). */
  readonly jkt: string;
  /** Tells proofs apart, over all keys. */
  readonly id: string;
  /** How long the proof would be accepted again, if nobody remembered it. */
  readonly seconds: number;
}

interface Expected {
  readonly request: CheckedRequest;
  /** The URL that the client asked, without query and fragment. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly now: number;
}

/**
 * Checks a proof of possession (RFC 9449 §4.3), apart from the two rules that need the token's claims and a memory: that the
 * key is the one of the token, and that the proof is new.
 * @returns undefined when the proof is wrong in any way
 */
export async function readProof(text: string, { request, urls, token, now }: Expected): Promise<Proof | undefined> {
  // Node joins two headers of that name with a comma, which no JWS contains.
  if (text.length > maxLength || !isCompact(text)) return undefined;
  const { header, payload } = parts(text) ?? {};
  if (header === undefined || payload === undefined) return undefined;
  const { typ, alg, jwk } = header as { typ?: unknown; alg?: unknown; jwk?: unknown };
  if (typ !== 'dpop+jwt' || !proofAlgorithms.includes(alg as string)) return undefined;
  const { jti, htm, htu, iat, ath } = payload;
  if (typeof jti !== 'string' || jti === '' || htm !== request.method) return undefined;
  if (typeof htu !== 'string' || !urls.includes(withoutQuery(htu) ?? '')) return undefined;
  if (typeof iat !== 'number' || !(Math.abs(now - iat) <= windowSeconds)) return undefined;
  if (ath !== createHash('sha256').update(token).digest('base64url')) return undefined;
  try {
    // jose refuses a key that is missing, private or of another kind than the algorithm.
    await compactVerify(text, EmbeddedJWK, { algorithms: proofAlgorithms });
    const jkt = await calculateJwkThumbprint(jwk as JWK);
    const id = createHash('sha256').update(`${jkt} ${jti}`).digest('base64url');
    return { jkt, id, seconds: Math.ceil(iat + windowSeconds - now) + 1 };
  } catch {
    return undefined;
  }
}

function withoutQuery(url: string): string | undefined {
  const parsed = urlOf(url);
  return parsed && parsed.origin + parsed.pathname;
}
