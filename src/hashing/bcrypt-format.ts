/**
 * The highest cost that is verified. A comparison beyond it takes seconds of a core, so one imported hash would let
 * anyone block the service.
 */
export const MAX_VERIFIED_COST = 14;

// Only the spellings that both libraries read alike. The native one would also take `$2x$` and a cost of `+4`.
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/** Returns the cost (log2 of the rounds, 4 to 31), or null when the text is not a bcrypt hash. */
export function costOf(hash: string): number | null {
  const cost = Number(BCRYPT.exec(hash)?.[1] ?? NaN);
  return cost >= 4 && cost <= 31 ? cost : null;
}

/**
 * Prefix, cost and salt (`$2b$cc$` and 22 characters, 29 in all), as `users.salt` holds them. Null for the hash of
 * another system, which holds its salt itself.
 */
export function saltOf(hash: string): string | null {
  return costOf(hash) === null ? null : hash.slice(0, 29);
}

/**
 * A well-formed hash for comparisons that must take as long as a real one although there is no stored hash. It is a
 * constant, so that making it costs no bcrypt. The caller ignores the result of the comparison.
 */
export function dummyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$abcdefghijklmnopqrstuu${'.'.repeat(31)}`;
}
