import { markdownTable } from './markdown.mjs';

const shown = (value) => (typeof value === 'number' ? value.toLocaleString('en-US') : value);
const text = (counts) =>
  Object.entries(counts)
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join(', ');

/** The table of docs/operations/a-year.md. A chapter that did not reach its end has no figures. */
export function yearTable(chapters) {
  const rows = chapters
    .filter(({ problem }) => problem === undefined)
    .map(({ chapter, requests, failed, failures, notes }) => [
      ...[chapter, shown(requests), shown(failed), text(failures), text(notes)],
    ]);
  return markdownTable(['chapter', 'requests', 'failed', 'by their answer', 'also counted'], rows);
}
