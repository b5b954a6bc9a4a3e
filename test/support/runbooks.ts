import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(__dirname, '../../docs/operations/runbooks');

export interface Runbook {
  /** The name of the file. */
  readonly page: string;
  /** The fenced `sh` blocks in their order, each with its lines. */
  readonly blocks: readonly (readonly string[])[];
  /** The headings of the second level, with the text below each of them. */
  readonly sections: ReadonlyMap<string, string>;
}

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
  const blocks = fences.map(({ body }) => body.trimEnd().split('\n'));
  const sections = text.split(/^## /m).slice(1);
  return {
    page,
    blocks,
    sections: new Map(sections.map((section) => [section.split('\n', 1)[0] as string, section])),
  };
}
