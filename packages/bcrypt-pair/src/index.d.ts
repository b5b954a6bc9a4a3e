/** A password and the bcrypt hash that it is compared with. */
export interface Comparison {
  /** The password in clear. Only its first 72 bytes of UTF-8 count, as everywhere with bcrypt. */
  readonly password: string;
  /** A hash `$2a$`, `$2b$` or `$2y$` with a cost from 4 to 31. */
  readonly hash: string;
}

/**
 * Compares two passwords with their hashes at once, in the calling thread. The call blocks for about the time of one
 * comparison, so call it in a worker thread.
 *
 * @returns one verdict for each password: true when it belongs to its hash. Null when this process cannot run
 *   WebAssembly (`--jitless`, an address space limit below about 10 GB), which never changes during its lifetime
 * @throws TypeError when a hash is not a bcrypt hash, or when the two hashes differ in cost
 */
export function comparePair(first: Comparison, second: Comparison): [boolean, boolean] | null;
