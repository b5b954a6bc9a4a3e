import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Seconds by which the clock of the sender may differ. */
const tolerance = 300;

/**
 * Verifies a request as the text of Standard Webhooks describes it ("Signature scheme", "Verifying webhook
 * authenticity"), with node:crypto alone. The service signs with another implementation.
 * @returns the reason why the request is not genuine, or undefined
 */
export function webhookFault(secret: string, { headers, body }: SignedRequest, now: Date): string | undefined {
  const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : '');
  const [id, timestamp, signatures] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  if (id === '' || id.includes('.')) return 'no id';
  if (!/^\d+$/.test(timestamp)) return 'no timestamp';
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > tolerance) return 'not of this time';
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const genuine = signatures.split(' ').some((one) => {
    const [version, text = ''] = one.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return genuine ? undefined : 'wrong signature';
}
