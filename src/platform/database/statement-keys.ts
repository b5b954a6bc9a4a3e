/**
 * Fills a list of keys up to a power of two with its last key. Each length of a list needs its own prepared statement,
 * and a connection keeps a limited number of them.
 * @param keys at least one
 */
export function filledUp<Key>(keys: readonly Key[]): Key[] {
  const length = 2 ** Math.ceil(Math.log2(keys.length));
  return Array.from({ length }, (_, i) => keys[Math.min(i, keys.length - 1)] as Key);
}
