import { cliffsDelta, difference, interleaved, median, seeded } from '../../bench/lib/effect-size.mjs';

jest.setTimeout(300_000);

/** Values around `middle`, as many times of answers are: most are close, a few are far above. */
function sample(count: number, middle: number, random: () => number): number[] {
  return Array.from({ length: count }, () => middle + 0.2 * random() + (random() < 0.02 ? 5 * random() : 0));
}

describe('the statistics of npm run side-channels', () => {
  it("Cliff's delta is 0 for equal samples, and 1 or -1 when no value overlaps", () => {
    expect(cliffsDelta([1, 2, 3], [1, 2, 3])).toBe(0);
    expect(cliffsDelta([5, 5], [5, 5, 5])).toBe(0);
    expect(cliffsDelta([4, 5, 6], [1, 2, 3])).toBe(1);
    expect(cliffsDelta([1, 2, 3], [4, 5, 6])).toBe(-1);
  });

  it("Cliff's delta counts every pair, ties as neither, in any order of the values", () => {
    const [first, second] = [
      [3, 1, 4, 1, 5, 9, 2, 6],
      [2, 7, 1, 8, 2, 8],
    ];
    let sum = 0;
    for (const one of first) for (const other of second) sum += Math.sign(one - other);
    expect(cliffsDelta(first, second)).toBe(sum / (first.length * second.length));
  });

  it('the median of an even number of values is the middle of the two', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([10, 1, 3, 2])).toBe(2.5);
  });

  it('1,000 samples show a difference of a tenth of the spread, with an interval around it', () => {
    const random = seeded(1);
    const found = difference(sample(1000, 5.02, random), sample(1000, 5, random), random);
    expect(found.shown).toBe(true);
    expect(found.delta.low).toBeLessThan(found.delta.value);
    expect(found.delta.high).toBeGreaterThan(found.delta.value);
    expect(found.median.low).toBeGreaterThan(0);
    expect(found.median.low).toBeLessThan(0.02);
    expect(found.median.high).toBeGreaterThan(0.02);
  });

  it('samples of one distribution show no difference, but for about one measurement in a hundred', () => {
    let shown = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const random = seeded(seed);
      if (difference(sample(200, 5, random), sample(200, 5, random), random).shown) shown++;
    }
    expect(shown).toBeLessThanOrEqual(1);
  });

  it('the order of the requests has as many of each kind, and no kind is always first', () => {
    const order = interleaved(500, seeded(7));
    expect(order.filter((kind) => kind === 0)).toHaveLength(500);
    const first = order.filter((_, i) => i % 2 === 0);
    for (const kind of [0, 1]) expect(first.filter((one) => one === kind).length).toBeGreaterThan(200);
  });
});
