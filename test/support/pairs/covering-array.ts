import { SeededNumbers } from '../seeded-numbers';
import type { Factors, Row } from './factors';

/** Values of some factors that cannot go together. */
export type Together = Readonly<Record<string, readonly string[]>>;

/** Of so many rows the one with most new pairs is taken. More of them make fewer rows, and take longer. */
const candidates = 8;

type Value = readonly [factor: string, value: string];

/**
 * Rows in which each two values of two factors meet, apart from what is impossible (a covering array of strength 2, made
 * greedily; ADR 0058). The same factors make the same rows.
 */
export function coveringArray(factors: Factors, impossible: readonly Together[]): Row[] {
  const numbers = new SeededNumbers(58);
  const missing = new Set(possiblePairs(factors, impossible).map(([one, other]) => key(one, other)));
  const rows: Row[] = [];
  while (missing.size > 0) {
    const begin = [...missing][0]!.split(' ').map((one) => one.split('=') as [string, string]);
    const tried = Array.from({ length: candidates }, () => filledUp(Object.fromEntries(begin)));
    const news = (row: Row) => pairsOf(row).filter((pair) => missing.has(pair));
    const best = tried.reduce((one, other) => (news(other).length > news(one).length ? other : one));
    for (const pair of news(best)) missing.delete(pair);
    rows.push(best);
  }
  return rows;

  /** Gives each factor the value with most new pairs, in a random order of the factors. */
  function filledUp(begun: Row): Row {
    let row = begun;
    for (const name of shuffled(Object.keys(factors).filter((one) => !(one in begun)))) {
      const values = shuffled(Object.keys(factors[name]!)).filter((value) =>
        isPossible({ ...row, [name]: value }, impossible),
      );
      const chosen = Object.entries(row);
      const news = (value: string) => chosen.filter((other) => missing.has(key([name, value], other))).length;
      // The values so far exclude each value of this factor.
      if (values.length === 0) return filledUp(begun);
      const counted = values.map((value) => [value, news(value)] as const);
      const [best] = counted.reduce((one, other) => (other[1] > one[1] ? other : one));
      row = { ...row, [name]: best };
    }
    return row;
  }

  function shuffled<T>(all: readonly T[]): T[] {
    return all
      .map((one) => [numbers.next(1_000_000), one] as const)
      .sort(([a], [b]) => a - b)
      .map(([, one]) => one);
  }
}

const key = (one: Value, other: Value): string =>
  (one[0] < other[0] ? [one, other] : [other, one]).map((value) => value.join('=')).join(' ');

export const isPossible = (row: Row, impossible: readonly Together[]): boolean =>
  !impossible.some((together) => Object.entries(together).every(([name, values]) => values.includes(row[name] ?? '')));

function pairsOf(row: Row): string[] {
  const values = Object.entries(row);
  return values.flatMap((one, at) => values.slice(at + 1).map((other) => key(one, other)));
}

function possiblePairs(factors: Factors, impossible: readonly Together[]): [Value, Value][] {
  const values = Object.entries(factors).flatMap(([name, all]) =>
    Object.keys(all).map((value): Value => [name, value]),
  );
  return values
    .flatMap((one, at) => values.slice(at + 1).map((other): [Value, Value] => [one, other]))
    .filter((pair) => pair[0][0] !== pair[1][0] && isPossible(Object.fromEntries(pair), impossible));
}

/** The pairs that are in no row, as `A=1 B=2`. */
export function missingPairs(factors: Factors, rows: readonly Row[], impossible: readonly Together[]): string[] {
  const met = new Set(rows.flatMap(pairsOf));
  return possiblePairs(factors, impossible)
    .map(([one, other]) => key(one, other))
    .filter((pair) => !met.has(pair));
}
