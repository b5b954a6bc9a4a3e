interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export function cliffsDelta(first: ArrayLike<number>, second: ArrayLike<number>): number;
export function median(values: ArrayLike<number>): number;
export function difference(
  first: ArrayLike<number>,
  second: ArrayLike<number>,
  random: () => number,
  level?: number,
): { readonly delta: Interval; readonly median: Interval; readonly shown: boolean };
export function seeded(seed: number): () => number;
export function interleaved(count: number, random: () => number): (0 | 1)[];
