import type { Random } from '../../shared/random';

const shortestMs = 1000;

/**
 * When to try again: after a quarter of the mail's age (so the pauses grow exponentially, and need no counter), at least
 * a second, at most `capMs`, a quarter more or less by chance so that mails of one outage do not come back in step; never
 * later than `expires`, where the mail is put away.
 */
export function retryAt(
  mail: { readonly createdAt: Date; readonly expires: Date },
  now: Date,
  capMs: number,
  random: Random,
): Date {
  const age = now.getTime() - mail.createdAt.getTime();
  const pause = Math.min(capMs, Math.max(shortestMs, age / 4));
  const jitter = 0.75 + random.bytes(2).readUInt16BE() / 131_072;
  return new Date(Math.min(mail.expires.getTime(), now.getTime() + pause * jitter));
}
