/** Returns `size` mutants, chosen by a hash of `seed` and their keys. */
export function sampleOf<T extends { readonly key: string }>(mutants: readonly T[], size: number, seed: number): T[];

/** Returns the 95 % interval of `hits / total`. */
export function wilson(hits: number, total: number): { readonly low: number; readonly high: number };
