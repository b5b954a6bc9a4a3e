import { SystemRandom } from '../../shared/random';
import { canonicalRecoveryCode, newRecoveryCode } from './recovery-code';

describe('recovery codes', () => {
  it('T073 10,000 codes have the form xxxxx-xxxxx and use all 32 characters evenly in every place', () => {
    const random = new SystemRandom();
    const codes = Array.from({ length: 10_000 }, () => newRecoveryCode(random));
    expect(codes.every((code) => /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/.test(code))).toBe(true);
    expect(new Set(codes).size).toBe(codes.length);
    for (let place = 0; place < 10; place++) {
      const counts = new Map<string, number>();
      for (const code of codes) {
        const character = code.replace('-', '')[place]!;
        counts.set(character, (counts.get(character) ?? 0) + 1);
      }
      expect(counts.size).toBe(32);
      const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - 312.5) ** 2 / 312.5, 0);
      // 31 degrees of freedom: an unbiased generator exceeds 95 less than once in ten million runs.
      expect(chiSquared).toBeLessThan(95);
    }
  });

  it.each([
    '0a1b2-c3d4e',
    '0A1B2-C3D4E',
    '0a1b2c3d4e',
    'oa1b2-c3d4e',
    'Oaib2-c3d4e',
    '0aLb2C3D4E',
    '0a 1b2 - c3d4e',
    '0-a-1-b-2-c-3-d-4-e',
    '0a1b2-c3d4e\n',
  ])('%j is read as the code 0a1b2-c3d4e', (typed) => {
    expect(canonicalRecoveryCode(typed)).toBe('0a1b2c3d4e');
  });

  it.each([
    '',
    '-',
    '123456',
    '0a1b2-c3d4',
    '0a1b2-c3d4ef',
    'ua1b2-c3d4e',
    '0a1b2_c3d4e',
    '０a1b2-c3d4e',
    '\u212Aa1b2-c3d4e',
    '0a1b2-c3d4\u017F',
    '0a1b2-c3d4e\u0000',
  ])('T095 %j is no code', (typed) => {
    expect(canonicalRecoveryCode(typed)).toBeUndefined();
  });
});
