/** A stored hash beyond this cost takes seconds of a core per guess: importing one must not be a denial of service. */
export const MAX_VERIFIED_COST = 14;

// Only what both libraries read alike: the native one would also take `$2x$` and a cost spelled `+4`.
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** The cost (log2 of the rounds, 4 to 31) of a bcrypt hash, null when the text is none. */
export function costOf(hash: string): number | null {
  const cost = Number(BCRYPT.exec(hash)?.[1] ?? NaN);
  return cost >= 4 && cost <= 31 ? cost : null;
}

/**
 * A well-formed hash that nobody's password has, to burn the work of a comparison where there is nothing to compare.
 * A constant, so that it costs no bcrypt at start; what it would match does not matter, the answer is false anyway.
 */
export function dummyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstuu${'.'.repeat(31)}`;
}
