import { isRecord } from './is-record';
import { accepted, type Judgement, rejected, unavailable } from './judgement';

export interface Expectations {
  readonly hostname?: string;
  readonly action?: string;
}

/** The provider does not know our secret. */
const secretCodes = new Set(['missing-input-secret', 'invalid-input-secret', 'invalid-parsed-secret', 'invalid-keys']);

/**
 * Reads an answer of siteverify (Turnstile, hCaptcha and reCAPTCHA agree on it). Strict: `success` must be the boolean,
 * in an object; anything else is no verdict at all (W14). A code that a client can provoke with a token of another site
 * (hCaptcha's `sitekey-secret-mismatch`) must not look like an outage, or tokens could switch the provider off.
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
