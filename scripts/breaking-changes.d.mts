/** One line for each break; empty when the new document is as good as the old one for every old client. */
export function breakingChanges(before: object, after: object): string[];
