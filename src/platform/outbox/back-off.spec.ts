import { Random } from '../../shared/random';
import { retryAt } from './back-off';

class Constant extends Random {
  constructor(private readonly byte: number) {
    super();
  }
  uuid = () => '';
  digits = () => '';
  bytes = (count: number) => Buffer.alloc(count, this.byte);
}

const created = new Date('2026-03-02T10:00:00Z');
const after = (seconds: number) => new Date(created.getTime() + seconds * 1000);

function pause(ageSeconds: number, byte = 0x80, expires = after(100_000)): number {
  const now = after(ageSeconds);
  return (retryAt({ createdAt: created, expires }, now, 30_000, new Constant(byte)).getTime() - now.getTime()) / 1000;
}

describe('retryAt', () => {
  it('waits one second at first, later a quarter of the age of the message, and never longer than the cap', () => {
    expect([0, 1, 8, 60, 3600].map((age) => Math.round(pause(age)))).toEqual([1, 1, 2, 15, 30]);
  });

  it('adds jitter of up to a quarter, so that messages of one outage are not retried together', () => {
    expect(pause(60, 0x00)).toBeCloseTo(11.25, 1);
    expect(pause(60, 0xff)).toBeCloseTo(18.75, 1);
  });

  it('never schedules a retry after the expiry of the message', () => {
    expect(pause(60, 0x80, after(65))).toBe(5);
  });

  it('does not wait longer when the clock was set back', () => {
    expect(Math.round(pause(-500))).toBe(1);
  });
});
