import type { Auth, Insufficient, InvalidReason, Verdict } from './auth.js';
import { type Demands, twoFactors } from './demands.js';
import { proofAlgorithms } from './proof.js';
import type { CheckedRequest } from './request.js';
import { checkRequest, type Verifier } from './verifier.js';

/** The answer to a request that may not pass. */
export interface Refusal {
  readonly status: 401 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly error: string; readonly error_description: string };
}

export type Authentication = { readonly auth: Auth } | { readonly refusal: Refusal };

/**
 * Judges a request. The adapters use it, and so can any other framework on Node.
 * @param demands what the route asks for, in addition to the options of the verifier
 */
export async function authenticateRequest(
  verifier: Verifier,
  request: CheckedRequest,
  demands?: Demands,
): Promise<Authentication> {
  const verdict = await checkRequest(verifier, request, demands);
  return verdict.status === 'valid' ? { auth: verdict.auth } : { refusal: refusalOf(verdict) };
}

/**
 * Judges the header `Authorization` alone, so that a token which is bound to a key is refused: its proof is in another header.
 * @param authorization the value of the header, undefined when there is none
 * @param demands what the route asks for, in addition to the options of the verifier
 */
export async function authenticate(
  verifier: Verifier,
  authorization: string | undefined,
  demands?: Demands,
): Promise<Authentication> {
  const bearer = /^bearer(?: +(.*))?$/i.exec(authorization ?? '');
  if (bearer === null) return { refusal: noToken };
  const verdict = await verifier.verify(bearer[1] ?? '', demands);
  return verdict.status === 'valid' ? { auth: verdict.auth } : { refusal: refusalOf(verdict) };
}

const noStore = { 'cache-control': 'no-store' };

/** RFC 6750 §3.1: a request without a token gets no error code. */
const noToken = refusal(401, 'unauthorized', 'An access token is required: send Authorization: Bearer.', {
  'www-authenticate': 'Bearer realm="portal"',
});

function refusalOf(verdict: Exclude<Verdict, { status: 'valid' }>): Refusal {
  if (verdict.status === 'unavailable') {
    const text = 'The access token cannot be checked at the moment. Try again later.';
    return refusal(503, 'temporarily_unavailable', text, { 'retry-after': `${verdict.retryAfterSeconds ?? 1}` });
  }
  if (verdict.status === 'insufficient') return insufficient(verdict);
  const { reason } = verdict;
  if (reason === 'missing') return noToken;
  const text = descriptions[reason];
  const error = reason === 'proof' ? 'invalid_dpop_proof' : 'invalid_token';
  const told = `realm="portal", error="${error}", error_description="${text}"`;
  // RFC 9449 §7.1: the client learns what to send instead.
  const wantsProof = reason === 'proof' || reason === 'bound' || reason === 'unbound';
  const challenge = wantsProof ? `DPoP ${told}, algs="${proofAlgorithms.join(' ')}"` : `Bearer ${told}`;
  return refusal(401, error, text, { 'www-authenticate': challenge });
}

/** RFC 9470 §3: what the client has to ask the user for. It names everything that the route demands. */
function insufficient({ reason, maxAgeSeconds, requireFactor }: Insufficient): Refusal {
  const text = reason === 'too_old' ? 'The user has to sign in again.' : 'The user has to use a second factor.';
  const challenge = [
    `Bearer realm="portal", error="insufficient_user_authentication", error_description="${text}"`,
    ...(maxAgeSeconds === undefined ? [] : [`max_age="${maxAgeSeconds}"`]),
    ...(requireFactor === true ? [`acr_values="${twoFactors}"`] : []),
  ].join(', ');
  return refusal(401, 'insufficient_user_authentication', text, { 'www-authenticate': challenge });
}

/** RFC 6750 §3: no quotes and no backslashes. */
const descriptions: Readonly<Record<InvalidReason, string>> = {
  malformed: 'The access token is malformed.',
  algorithm: 'The access token is signed with another algorithm.',
  type: 'The token is not an access token.',
  issuer: 'The access token is of another issuer.',
  audience: 'The access token is for another audience.',
  expired: 'The access token has expired.',
  not_yet_valid: 'The access token is not valid yet.',
  signature: 'The signature of the access token is wrong.',
  not_active: 'The access token is not active.',
  missing: 'An access token is required.',
  bound: 'The access token is bound to a key: send Authorization: DPoP with a proof.',
  unbound: 'The access token must be bound to a key.',
  proof: 'The proof of possession is missing, wrong, or was used before.',
};

function refusal(
  status: Refusal['status'],
  error: string,
  description: string,
  headers: Record<string, string>,
): Refusal {
  return { status, headers: { ...noStore, ...headers }, body: { error, error_description: description } };
}
