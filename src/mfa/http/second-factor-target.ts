import { networkOf } from '../../shared/client-network';
import { sha256Hex } from '../../platform/crypto/key-ring';
import { canonicalField, type LimitedRequest, type TargetOf } from '../../platform/limits/rate-limited.decorator';

/**
 * The target of a request about a second factor: the uid together with who asks. A uid is no secret. A stranger who knows
 * one could otherwise use up its limit and keep the owner from logging in.
 */
export const secondFactorOf =
  (place: 'body' | 'params'): TargetOf =>
  (request) =>
    targetOf(request, request[place]);

/** The asker is known by the mfa_token, otherwise by the network (docs/spec/decisions.md#pending-login). */
function targetOf({ client }: LimitedRequest, fields: unknown): string | undefined {
  const uid = canonicalField(fields, 'uid');
  if (uid === undefined) return undefined;
  const token = (fields as { readonly mfa_token?: unknown }).mfa_token;
  // As JSON, because the uid is not validated yet: no text can be chosen that makes the key of another uid.
  return JSON.stringify(typeof token === 'string' ? [uid, 'token', sha256Hex(token)] : [uid, networkOf(client.ip)]);
}
