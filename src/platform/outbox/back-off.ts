import type { Random } from '../../shared/random';

const shortestMs = 1000;

/**
 * The time of the next attempt. The pause is a quarter of the message's age, so pauses grow exponentially without a
 * counter. It is at least one second and at most `capMs`. A jitter of a quarter keeps the messages of one outage from
 * being retried all at once. The result is never later than `expires`.
 */
export function retryAt(
  message: { readonly createdAt: Date; readonly expires: Date },
  now: Date,
  capMs: number,
  random: Random,
): Date {
  const age = now.getTime() - message.createdAt.getTime();
  const pause = Math.min(capMs, Math.max(shortestMs, age / 4));
  const jitter = 0.75 + random.bytes(2).readUInt16BE() / 131_072;
  return new Date(Math.min(message.expires.getTime(), now.getTime() + pause * jitter));
}
