import { networkOf } from '../../shared/client-network';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { canonicalField, type LimitedRequest, type TargetOf } from '../../platform/limits/rate-limited.decorator';

/**
 * The rate limit target of a request about a second factor: the uid and the client. A uid is no secret. With the uid
 * alone, a stranger who knows it could use up its limit and keep the owner from logging in.
 */
export const secondFactorOf =
  (place: 'body' | 'params'): TargetOf =>
  (request) =>
    targetOf(request, request[place]);

/** The mfa_token identifies the client, or the network if there is no token (docs/spec/decisions.md#pending-login). */
function targetOf({ client }: LimitedRequest, fields: unknown): string | undefined {
  const uid = canonicalField(fields, 'uid');
  if (uid === undefined) return undefined;
  const token = (fields as { readonly mfa_token?: unknown }).mfa_token;
  // The uid is not validated yet. In JSON, no choice of its text can produce the key of another uid.
  return JSON.stringify(typeof token === 'string' ? [uid, 'token', sha256Hex(token)] : [uid, networkOf(client.ip)]);
}
