/** For the description of each list that is offered as CSV. */
export const csvNote =
  'With `format=csv` all rows as a file for a spreadsheet: UTF-8 with a byte order mark, CRLF, and an apostrophe before what would be a formula.';

/**
 * What begins a formula: `= + - @`, a tab or a carriage return, and the full-width forms, which spreadsheets take for the
 * same. Quotes and spaces before it are skipped by some of them.
 */
const formula = /^["\s]*[=+\-@\t\r＝＋－＠]/;

/**
 * Where a formula begins inside a cell. Where the list separator of the country is `;` or a tab, a spreadsheet cuts the
 * line there, whatever our quotes say, and then a line break begins a new row, too.
 */
const formulaInside = /[;\t\r\n](?=["\s]*[=+\-@\t\r＝＋－＠])/g;

/** Spreadsheets read UTF-8 only with this mark. */
export const byteOrderMark = '\uFEFF';

/** One cell. Null is empty, an object is JSON. */
export function csvCell(value: unknown): string {
  const plain = value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const inside = plain.replace(formulaInside, "$&'");
  const text = formula.test(plain) ? `'${inside}` : inside;
  return /[",;\s]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;
