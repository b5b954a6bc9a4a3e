import { rowText, written } from './cli-context';

interface Rows<Item, Place> {
  readonly items: readonly Item[];
  readonly next: Place | null;
}

const pageRows = 1000;

/** All pages of a list, each of which is read when the consumer asks for it. */
export async function* pagesOf<Item, Place>(
  read: (limit: number, after?: Place) => Promise<Rows<Item, Place>>,
): AsyncGenerator<readonly Item[]> {
  for (let rows = await read(pageRows); ; rows = await read(pageRows, rows.next)) {
    if (rows.items.length > 0) yield rows.items;
    if (rows.next === null) return;
  }
}

/** Prints one page at a time, as fast as the reader reads, and ends when the reader closes the pipe. */
export async function printPages<Item>(
  pages: AsyncGenerator<readonly Item[]>,
  view: (item: Item) => Readonly<Record<string, unknown>>,
  json: boolean | undefined,
): Promise<void> {
  let before = '[';
  for await (const page of pages) {
    const text = json
      ? before + page.map((item) => JSON.stringify(view(item))).join(',')
      : page.map((item) => `${rowText(view(item))}\n`).join('');
    if (!(await written(text))) return;
    before = ',';
  }
  if (json) await written(before === '[' ? '[]\n' : ']\n');
}
