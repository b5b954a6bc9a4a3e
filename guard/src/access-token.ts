import { decodeJwt, decodeProtectedHeader } from 'jose';

import type { Auth, InvalidReason } from './auth.js';

/** The service refuses longer tokens (`/introspect`), and the limit bounds the work of the parser. */
const maxLength = 8192;
// The unused bits of the last character are zero, so the same bytes have only one spelling (RFC 4648 §3.5). Without this
// rule a token has several texts, and a list of tokens that are no longer accepted would know only one of them.
const canonicalBase64url = /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;
/** How far the service's clock may be ahead. The service allows as much. */
const toleranceSeconds = 60;

export type Claims = Omit<Auth, 'verified_by' | 'verified_at' | 'username' | 'is_admin' | 'groups'>;

export interface ReadToken {
  readonly alg: unknown;
  readonly kid: unknown;
  readonly typ: unknown;
  readonly claims: Claims;
}

interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly now: number;
}

/**
 * Reads the token and compares its claims. Nothing is verified yet, but a token that fails here needs no question to the
 * service and no signature check.
 */
export function readAccessToken(token: string, { issuer, audience, now }: Expected): ReadToken | InvalidReason {
  if (typeof token !== 'string' || token.length > maxLength || !isCompact(token)) return 'malformed';
  const parsed = parts(token);
  if (parsed === undefined) return 'malformed';
  const { header, payload } = parsed;
  // A refresh token gets new tokens from the service. It opens no other one.
  if (payload.token_use !== 'access') return 'type';
  const claims = claimsOf(payload);
  if (claims === undefined) return 'malformed';
  if (claims.iss !== issuer) return 'issuer';
  if (![claims.aud].flat().includes(audience)) return 'audience';
  if (claims.exp <= now) return 'expired';
  const newest = Math.max(claims.iat, claims.auth_time ?? 0);
  if (newest > now + toleranceSeconds || isAhead(payload.nbf, now)) return 'not_yet_valid';
  return { alg: header.alg, kid: header.kid, typ: header.typ, claims };
}

/** The parts of a JWT, which are not verified yet. */
export function parts(token: string) {
  try {
    return { header: decodeProtectedHeader(token), payload: decodeJwt<Record<string, unknown>>(token) };
  } catch {
    return undefined;
  }
}

export function isCompact(token: string): boolean {
  const texts = token.split('.');
  return texts.length === 3 && texts.every((part) => part !== '' && canonicalBase64url.test(part));
}

/** @returns undefined when a claim is missing or has another type */
export function claimsOf(payload: Record<string, unknown>): Claims | undefined {
  const { sub, sid, jti, iss, aud, iat, exp, tenant_id, org_unit_id, amr, auth_time, acr, cnf } = payload;
  if (![sub, sid, jti, iss, tenant_id].every((value) => typeof value === 'string')) return undefined;
  if (!Number.isSafeInteger(iat) || !Number.isSafeInteger(exp)) return undefined;
  if (typeof aud !== 'string' && !isTextList(aud)) return undefined;
  if (!isTextList(amr) || (typeof org_unit_id !== 'string' && org_unit_id !== null)) return undefined;
  // Tokens of version 1.0.0 have neither of the two.
  if (auth_time !== undefined && !Number.isSafeInteger(auth_time)) return undefined;
  if (acr !== undefined && typeof acr !== 'string') return undefined;
  // A token that is bound in a way that this guard does not know must not pass as an unbound one.
  if (cnf !== undefined && !isConfirmation(cnf)) return undefined;
  const context = {
    ...(auth_time !== undefined && { auth_time }),
    ...(acr !== undefined && { acr }),
    ...(cnf !== undefined && { cnf: { jkt: cnf.jkt } }),
  };
  return { sub, sid, jti, iss, aud, iat, exp, tenant_id, org_unit_id, amr, ...context } as Claims;
}

function isConfirmation(cnf: unknown): cnf is { readonly jkt: string } {
  return typeof cnf === 'object' && cnf !== null && typeof (cnf as { jkt?: unknown }).jkt === 'string';
}

export function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Our tokens have no `nbf`. One that has is not used before its time, and never when it is no number. */
function isAhead(nbf: unknown, now: number): boolean {
  return nbf !== undefined && !(typeof nbf === 'number' && nbf <= now);
}
