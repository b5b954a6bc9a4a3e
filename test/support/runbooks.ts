import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(__dirname, '../../docs/operations/runbooks');

/** The first line of each block says where it runs (docs/operations/runbooks/README.md). */
const places = {
  '# in a pod': 'pod',
  '# on your laptop': 'laptop',
  '# on the database host': 'database host',
} as const;
export type Place = (typeof places)[keyof typeof places];

export interface Runbook {
  /** The name of the file. */
  readonly page: string;
  /** The fenced `sh` blocks in their order. */
  readonly blocks: readonly { readonly place: Place; readonly commands: string }[];
  /** The headings of the second level, with the text below each of them. */
  readonly sections: ReadonlyMap<string, string>;
}

/** The place that `# in a pod` and the like name, or undefined. */
export const placeOf = (line: string): Place | undefined =>
  Object.hasOwn(places, line) ? places[line as keyof typeof places] : undefined;

export const runbooks = (): Runbook[] =>
  readdirSync(folder)
    .sort()
    .map((page) => runbookOf(page, readFileSync(join(folder, page), 'utf8')));

function runbookOf(page: string, text: string): Runbook {
  // Prose inside of a fence, or a fence without a language, would be a command that no test runs.
  const fences = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, body = '']) => ({ language, body }));
  const other = fences.filter(({ language }) => language !== 'sh');
  if (other.length > 0 || (text.match(/^\s*```/gm) ?? []).length !== 2 * fences.length)
    throw new Error(`${page} has a block that is not sh`);
  const blocks = fences.map(({ body }) => {
    const [first = '', ...lines] = body.trimEnd().split('\n');
    const place = placeOf(first);
    if (place === undefined) throw new Error(`${page}: a block does not say where it runs: ${first}`);
    return { place, commands: lines.join('\n') };
  });
  const sections = text.split(/^## /m).slice(1);
  return {
    page,
    blocks,
    sections: new Map(sections.map((section) => [section.split('\n', 1)[0] as string, section])),
  };
}
