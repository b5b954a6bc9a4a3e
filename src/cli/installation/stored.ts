import { pagesOf } from '../printed-pages';

/** All rows of a list. An installation has some thousand of them at most. */
export async function allOf<Item, Place>(
  read: (limit: number, after?: Place) => Promise<{ readonly items: readonly Item[]; readonly next: Place | null }>,
): Promise<Item[]> {
  const all: Item[] = [];
  for await (const page of pagesOf(read)) all.push(...page);
  return all;
}
