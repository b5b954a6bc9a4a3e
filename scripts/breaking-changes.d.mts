/** Returns one line for each breaking change. Empty when every client of the old document works with the new one. */
export function breakingChanges(before: object, after: object): string[];
