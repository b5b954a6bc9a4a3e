import { DIGITS_OF_PI } from './digits-of-pi';

it('are the binary digits of π, by the formula of Machin (1706)', () => {
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
  // Not toEqual: nobody wants to see the two in full.
  expect(DIGITS_OF_PI.equals(expected)).toBe(true);
});
