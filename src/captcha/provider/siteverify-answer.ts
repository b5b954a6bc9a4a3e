import { isRecord } from './is-record';
import { accepted, type Judgement, rejected, unavailable } from './judgement';

export interface Expectations {
  readonly hostname?: string;
  readonly action?: string;
}

/** Error codes that mean that the secret of this service is wrong or missing. */
const secretCodes = new Set(['missing-input-secret', 'invalid-input-secret', 'invalid-parsed-secret', 'invalid-keys']);

/**
 * Reads a siteverify response. Turnstile, hCaptcha and reCAPTCHA share the format. A response that is not an object
 * with a boolean `success` is no verdict (docs/spec/attacks.md#w14). `sitekey-secret-mismatch` of hCaptcha rejects the
 * token. A client can cause it with a token of another site, so it must not count as an outage of the provider.
 */
export function readAnswer(text: string, expected: Expectations): Judgement {
  const answer = parse(text);
  if (!isRecord(answer) || typeof answer.success !== 'boolean') return unavailable('nonsense');
  if (!answer.success) return readCodes(answer['error-codes']);
  if (expected.hostname !== undefined && answer.hostname !== expected.hostname) return mismatch('hostname');
  if (expected.action !== undefined && answer.action !== expected.action) return mismatch('action');
  return accepted;
}

function readCodes(value: unknown): Judgement {
  const codes: unknown[] = Array.isArray(value) ? value : [];
  const secret = codes.find((code): code is string => typeof code === 'string' && secretCodes.has(code));
  if (secret !== undefined) return { ...unavailable(secret), misconfigured: true };
  if (codes.includes('internal-error')) return unavailable('internal-error');
  if (codes.includes('bad-request')) return { ...unavailable('bad-request'), misconfigured: true, blameless: true };
  return rejected;
}

function mismatch(what: 'hostname' | 'action'): Judgement {
  return { ...rejected, reason: `unexpected ${what}` };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
