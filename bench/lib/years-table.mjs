// The table of bench/years.mjs in docs/operations/scale.md.
import { figure, markdownTable } from './markdown.mjs';

const count = (value) => value.toLocaleString('en-US');

/** The rows of the last step, as a multiple of those of the first one. */
const growthOf = (values) => values.at(-1) / Math.max(1, values[0]);

/** The difference of two long runs can be less than what these differ by themselves. */
const timeOf = (ms) => (ms > 0 ? figure(ms) : '–');

/** @param {{ steps: { users: number, operations: Record<string, { rows: number, databaseMs: number }> }[] }} file */
export function yearsTable({ steps }) {
  const names = Object.keys(steps[0].operations);
  const of = (name, field) => steps.map(({ operations }) => operations[name][field]);
  return markdownTable(
    ['rows read, by users', ...steps.map(({ users }) => count(users)), 'ratio', 'ms of a processor'],
    names.map((name) => [
      name,
      ...of(name, 'rows').map(figure),
      figure(growthOf(of(name, 'rows'))),
      timeOf(of(name, 'databaseMs').at(-1)),
    ]),
  );
}
