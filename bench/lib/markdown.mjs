// Tables of the documentation that are made from figures, in the format of prettier.

/** Three significant digits, so that a computed figure does not look more exact than it is. */
export function figure(value) {
  if (!Number.isFinite(value)) return '';
  if (value === 0) return '0';
  if (value < 10) return String(Number(value.toPrecision(2)));
  if (value < 1000) return String(Math.round(value));
  return Number(value.toPrecision(3)).toLocaleString('en-US');
}

const units = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

export function bytes(value) {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${figure(value / 1000 ** step)} ${units[step]}`;
}

/** A number with or without a unit. A column of numbers is aligned to the right. */
const number = /^([\d.,]+( [\w/]+)?)?$/;

/** @param {string[]} head @param {string[][]} rows */
export function markdownTable(head, rows) {
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(3, ...lines.map((line) => line[column].length)));
  const right = head.map((_, column) => rows.every((line) => number.test(line[column])));
  const pad = (cell, i) => (right[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i]));
  const line = (cells) => `| ${cells.map(pad).join(' | ')} |`;
  const rule = widths.map((width, i) => (right[i] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}

/** Replaces the text between `<!-- table: NAME -->` and `<!-- end -->` of a page. */
export function withTables(page, tables) {
  return page.replace(/(<!-- table: ([\w-]+) -->\n\n)[\s\S]*?(\n\n<!-- end -->)/g, (_, begin, name, end) => {
    if (tables[name] === undefined) throw new Error(`no table is called ${name}`);
    return `${begin}${tables[name]}${end}`;
  });
}
