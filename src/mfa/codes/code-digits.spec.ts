import { SystemRandom } from '../../shared/random';
import { isCodeShaped } from './submitted-code';

describe('the codes that are sent by mail', () => {
  it('T073 10,000 codes have six digits, keep leading zeros, and use all digits evenly in every place', () => {
    const random = new SystemRandom();
    const codes = Array.from({ length: 10_000 }, () => random.digits(6));
    expect(codes.every(isCodeShaped)).toBe(true);
    expect(codes.filter((code) => code.startsWith('0')).length).toBeGreaterThan(800);
    for (let place = 0; place < 6; place++) {
      const counts = Array<number>(10).fill(0);
      for (const code of codes) counts[Number(code[place])]! += 1;
      const chiSquared = counts.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
      // 9 degrees of freedom: an unbiased generator exceeds 49 once in ten million runs.
      expect(chiSquared).toBeLessThan(49);
    }
    expect(new Set(codes).size).toBeGreaterThan(9_900);
  });
});
