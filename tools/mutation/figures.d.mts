/** Returns `size` mutants, chosen by a hash of `seed` and their keys. */
export function sampleOf<T extends { readonly key: string }>(mutants: readonly T[], size: number, seed: number): T[];

/** Returns the name of the result of a mutant. `key` alone is the same for mutants that begin at one place. */
export function resultKey(mutant: { readonly key: string; readonly end: string }): string;

/** Returns the 95 % interval of `hits / total`. */
export function wilson(hits: number, total: number): { readonly low: number; readonly high: number };
