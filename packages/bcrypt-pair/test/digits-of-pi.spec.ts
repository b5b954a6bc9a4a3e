import { DIGITS_OF_PI } from '../src/digits-of-pi';

it('the constants of Blowfish are the binary digits of pi, by the formula of Machin (1706)', () => {
  const digits = 33_344n;
  const spare = 64n;
  const one = 1n << (digits + spare);
  const arctangentOfInverse = (x: bigint): bigint => {
    let sum = 0n;
    for (let power = one / x, n = 1n; power !== 0n; power /= -x * x, n += 2n) sum += power / n;
    return sum;
  };
  const pi = 16n * arctangentOfInverse(5n) - 4n * arctangentOfInverse(239n);
  const fraction = (pi % one) >> spare;
  const expected = Buffer.from(fraction.toString(16).padStart(Number(digits) / 4, '0'), 'hex');
  // `equals`, because a failing toEqual would print 4 KB of digits twice.
  expect(DIGITS_OF_PI.equals(expected)).toBe(true);
});
