const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * The fields that were changed here and, with another value, by somebody else meanwhile.
 * @param before the values that the form began with
 * @param saved what the service has now
 */
export const clashesOf = <T extends object>(before: T, now: T, saved: T): readonly (keyof T & string)[] =>
  (Object.keys(now) as (keyof T & string)[]).filter(
    (field) =>
      !same(now[field], before[field]) && !same(saved[field], before[field]) && !same(saved[field], now[field]),
  );
