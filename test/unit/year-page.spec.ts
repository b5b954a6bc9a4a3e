import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { yearTable } from '../../bench/lib/year-table.mjs';
import type { Chapter } from '../support/year/year';

const read = (file: string) => readFileSync(resolve(__dirname, '../..', file), 'utf8');

describe('docs/operations/a-year.md', () => {
  const page = read('docs/operations/a-year.md');
  const year = JSON.parse(read('bench/results/year.json')) as { options: object; chapters: Chapter[] };
  const finished = year.chapters.filter(({ problem }) => problem === undefined);

  /** The cells of the rows of the table below a heading. */
  const rowsBelow = (heading: string): string[][] => {
    const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
    const lines = section.split('\n').filter((line) => line.startsWith('| '));
    return lines.slice(2).map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  };

  it('has the figures of the recorded run, and names its size', () => {
    expect(page).toContain(`<!-- table: year -->\n\n${yearTable(finished)}\n\n<!-- end -->`);
    const options = Object.entries(year.options).map(([name, value]) => `--${name} ${value}`);
    expect(page).toContain(`node bench/year.mjs ${options.join(' ')}\n`);
  });

  it('names the cause of each kind of failed requests of each chapter, and of no other', () => {
    const failed = finished.flatMap(({ chapter, failures }) =>
      Object.keys(failures).map((answer) => [chapter, answer]),
    );
    const causes = rowsBelow('Why requests failed');
    expect(causes.map(([chapter, answer]) => [chapter, answer]).sort()).toEqual(failed.sort());
    expect(causes.filter(([, , cause]) => !cause)).toEqual([]);
  });

  it('says what is done in each chapter, and names no chapter without figures', () => {
    expect(rowsBelow('The chapters').map(([chapter]) => chapter)).toEqual(finished.map(({ chapter }) => chapter));
  });
});
