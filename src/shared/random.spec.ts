import { isUuid } from './uuid';
import { SystemRandom } from './random';

describe('the tokens of links', () => {
  it('T139 65,536 of them are UUIDs of version 4, all different, and use all digits evenly in every free place', () => {
    jest.useFakeTimers({ now: 0 });
    try {
      const random = new SystemRandom();
      const tokens = Array.from({ length: 65_536 }, () => random.uuid());
      expect(new Set(tokens).size).toBe(tokens.length);
      for (const token of tokens) {
        if (!isUuid(token) || token[14] !== '4') throw new Error(`${token} is no UUID of version 4`);
      }
      // The places of the version and the variant are fixed. A time or a counter would not be even.
      const free = [...Array(36).keys()].filter((place) => ![8, 13, 14, 18, 19, 23].includes(place));
      for (const place of free) {
        const counts = new Map<string, number>();
        for (const token of tokens) counts.set(token[place]!, (counts.get(token[place]!) ?? 0) + 1);
        const expected = tokens.length / 16;
        const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
        expect(counts.size).toBe(16);
        // 15 degrees of freedom: a good generator exceeds this once in 10^12 times.
        expect(chiSquared).toBeLessThan(90);
      }
    } finally {
      jest.useRealTimers();
    }
  });
});
