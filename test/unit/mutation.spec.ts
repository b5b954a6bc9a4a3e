import { resultKey, sampleOf, wilson } from '../../tools/mutation/figures.mjs';

const mutants = Array.from({ length: 200 }, (_, index) => ({ key: `src/a.ts ${index}` }));

describe('npm run mutation', () => {
  it('chooses the same sample for the same seed, whatever the order of the mutants', () => {
    expect(sampleOf([...mutants].reverse(), 20, 7)).toEqual(sampleOf(mutants, 20, 7));
    expect(sampleOf(mutants, 20, 8)).not.toEqual(sampleOf(mutants, 20, 7));
  });

  it('a larger sample contains the smaller one of the same seed', () => {
    expect(sampleOf(mutants, 50, 7).slice(0, 20)).toEqual(sampleOf(mutants, 20, 7));
    expect(new Set(sampleOf(mutants, 500, 7)).size).toBe(200);
  });

  it('keeps a result for each of the mutants that begin at the same place with the same replacement', () => {
    const key = 'src/a.ts 22:6 ConditionalExpression false';
    expect(resultKey({ key, end: '22:24' })).not.toBe(resultKey({ key, end: '22:48' }));
  });

  // Newcombe 1998, table I: two-sided 95 % intervals by method 3 (score method without continuity correction).
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%s of %s has the published interval', (hits, total, low, high) => {
    const interval = wilson(hits, total);
    expect(interval.low).toBeCloseTo(low, 4);
    expect(interval.high).toBeCloseTo(high, 4);
  });

  it('nothing measured says nothing', () => {
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });
});
