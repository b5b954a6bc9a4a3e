// How far two samples of times differ. Nothing assumes a form of the distributions: times of a busy machine have long tails.

/** Draws with which an interval is estimated. */
const draws = 2000;

/**
 * Cliff's delta: the share of pairs in which a value of the first sample is larger, minus the share in which it is
 * smaller. 0: nobody can tell the samples apart. 1 or -1: every single value tells which sample it is from.
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 */
export function cliffsDelta(first, second) {
  const sorted = Float64Array.from(second).sort();
  let larger = 0;
  let smaller = 0;
  for (let i = 0; i < first.length; i++) {
    larger += countBelow(sorted, first[i], false);
    smaller += sorted.length - countBelow(sorted, first[i], true);
  }
  return (larger - smaller) / (first.length * sorted.length);
}

/** Values that are below the limit, or not above it with `orEqual`. */
function countBelow(sorted, limit, orEqual) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < limit || (orEqual && sorted[middle] === limit)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {ArrayLike<number>} values */
export function median(values) {
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The difference of two samples with intervals that hold the true value in `level` of all measurements (percentile
 * bootstrap). Each sample is drawn again with replacement.
 * @param {ArrayLike<number>} first
 * @param {ArrayLike<number>} second
 * @param {() => number} random from 0 to below 1
 * @param {number} level
 */
export function difference(first, second, random, level = 0.99) {
  const deltas = [];
  const medians = [];
  for (let i = 0; i < draws; i++) {
    const [one, other] = [redrawn(first, random), redrawn(second, random)];
    deltas.push(cliffsDelta(one, other));
    medians.push(median(one) - median(other));
  }
  const delta = { value: cliffsDelta(first, second), ...intervalOf(deltas, level) };
  return {
    delta,
    median: { value: median(first) - median(second), ...intervalOf(medians, level) },
    /** Whether the samples show a difference: the interval of delta does not hold 0. */
    shown: delta.low > 0 || delta.high < 0,
  };
}

function redrawn(values, random) {
  const drawn = new Float64Array(values.length);
  for (let i = 0; i < drawn.length; i++) drawn[i] = values[Math.floor(random() * values.length)];
  return drawn;
}

function intervalOf(values, level) {
  const sorted = Float64Array.from(values).sort();
  const outside = (1 - level) / 2;
  return {
    low: sorted[Math.floor(outside * (sorted.length - 1))],
    high: sorted[Math.ceil((1 - outside) * (sorted.length - 1))],
  };
}

/** A small generator (mulberry32), so that a run can be repeated with its seed. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** The kinds of `count` requests, in an order that favours none: each two neighbours are one of each kind. */
export function interleaved(count, random) {
  return Array.from({ length: count }, () => (random() < 0.5 ? [0, 1] : [1, 0])).flat();
}
