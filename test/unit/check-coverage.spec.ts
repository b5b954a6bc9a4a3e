import { checkCoverage, testFilesOf } from '../../scripts/coverage.mjs';
import { runScript } from '../support/run-script';

/** Numbers of these tests. A template does not count as a title that names them. */
const known = 'T129';
const [unknown, other] = [`T${999}`, `T${998}`];

const catalogue = '### <a id="w21"></a>W21: long\n\n- <a id="t129"></a>**T129** [C] a case\n';
const test = (text: string) => ({ 'test/a.spec.ts': text });
const page = (header: string, row: string) => ({
  'docs/security/coverage.md': `| ${header} |\n| --- | --- |\n| ${row} |\n`,
});
const spots = '\n| weak spot | lines |\n| --- | --- |\n| [W21](a) | [T129](b) |\n';

/** Returns the findings for a catalogue with one line and one weak spot. The page always has a row for the weak spot. */
function judge(...parts: Record<string, string>[]): string[] {
  const files = new Map(Object.entries(Object.assign({ 'docs/spec/attacks.md': catalogue }, ...parts) as object));
  files.set('docs/security/coverage.md', `${files.get('docs/security/coverage.md') ?? ''}${spots}`);
  return checkCoverage(files, (file) => file.startsWith('test/')).findings.map(
    ({ file, line, message }) => `${file}:${line}: ${message}`,
  );
}

describe('check:coverage', () => {
  it.each<[string, string]>([
    ['a title', "it('T129 stays', () => {});"],
    ['the end of a title', "it('stays (T129)', () => {});"],
    ['the title of a group', "describe('stays (T129)', () => {});"],
    ['a title with values', 'it(`T129 stays ${n}`, () => {});'],
    ['the title of a table', "it.each([1, 2])('T129 %i stays', () => {});"],
    ['a value of a table that the title shows', "it.each([['T129 a', 1]])('%s stays', () => {});"],
    ['such a value in a constant', "const cases = [['T129 a', 1]];\nit.each(cases)('%s stays', () => {});"],
    ['such a value of a function', "it.each([of('T129 a', 1)])('%s stays', () => {});"],
    ['a property that the title shows', "it.each([{ name: 'T129 a' }])('$name stays', () => {});"],
    ['a test of one platform', "const onLinux = a ? it : it.skip;\nonLinux('T129 stays', () => {});"],
    ['a group of one database', "(a ? describe : describe.skip)('T129 stays', () => {});"],
  ])('a number is covered by %s', (_what, text) => expect(judge(test(text))).toEqual([]));

  it.each<[string, string]>([
    ['a comment', "// T129\nit('stays', () => {});"],
    ['a text that is no title', "it('stays', () => { say('T129'); });"],
    ['a value of a table that the title does not show', "it.each([['a', 'T129']])('%s stays', () => {});"],
    ['a property that the title does not show', "it.each([{ name: 'a', text: 'T129' }])('$name', () => {});"],
    ['nothing', ''],
  ])('a number is not covered by %s', (_what, text) =>
    expect(judge(test(text))).toEqual([
      'docs/spec/attacks.md:3: T129 is neither in the title of a test nor on docs/security/coverage.md',
    ]),
  );

  it.each<[string, string]>([
    ['it.skip', "it.skip('T129 stays', () => {});"],
    ['xit', "xit('T129 stays', () => {});"],
    ['it.todo', "it.todo('T129 stays');"],
    ['it.skip.each', "it.skip.each([1])('T129 stays', () => {});"],
    ['a group that is skipped', "describe.skip('a', () => { it('T129 stays', () => {}); });"],
    ['a variable of the environment', "const long = process.env.LONG ? it : it.skip;\nlong('T129 stays', () => {});"],
  ])('a test that %s skips covers nothing, and is a finding itself', (_what, text) =>
    expect(judge(test(text))).toEqual([
      expect.stringMatching(/^test\/a\.spec\.ts:\d: T129 is in the title of a test that is skipped$/),
      expect.stringContaining('T129 is neither'),
    ]),
  );

  it('a title with a number that the catalogue does not have is a finding', () => {
    expect(judge(test(`it('${known} and ${unknown}', () => {});`))).toEqual([
      `test/a.spec.ts:1: ${unknown}: docs/spec/attacks.md has no such number`,
    ]);
  });

  const stays = test("describe('a', () => { it('stays', () => {}); });");
  it.each<[string, string]>([
    ['number | tests', `[${known}](a) | \`test/a.spec.ts\` "stays". Why.`],
    ['number | tests', `[${known}](a) | \`test/a.spec.ts\` "a", \`test/a.spec.ts\` "stays"`],
    ['number | reason', `[${known}](a) | It needs a year and an ocean.`],
  ])('the page covers a number with %s: %s', (header, row) => expect(judge(stays, page(header, row))).toEqual([]));

  it.each<[string, string, string]>([
    ['number | tests', `[${known}](a) | see there`, 'the row names no test: write `file` "title"'],
    ['number | tests', `[${known}](a) | \`test/a.spec.ts\` "stay"`, 'test/a.spec.ts has no test "stay"'],
    ['number | tests', `[${known}](a) | \`test/b.spec.ts\` "stays"`, 'test/b.spec.ts has no test "stays"'],
    ['number | reason', `[${known}](a) | no`, 'the row gives no reason'],
    ['number | difference', `[${known}](a) | Another figure is used there.`, `${known} is in the title of no test`],
    [
      'number | tests',
      `[${known}](a), [${other}](a) | \`test/a.spec.ts\` "stays"`,
      `${other}: docs/spec/attacks.md has no such number`,
    ],
    ['number | excuse', `[${known}](a) | It needs a year and an ocean.`, 'no such table: number | excuse'],
  ])('the page with %s: %s is a finding', (header, row, message) =>
    expect(judge(stays, page(header, row))).toContainEqual(
      expect.stringMatching(new RegExp(`^docs/security/coverage\\.md:\\d: ${message.replace(/[|\\/.]/g, '\\$&')}$`)),
    ),
  );

  it('the page may not name a test that is skipped', () => {
    const skipped = test("it.skip('stays', () => {});");
    expect(judge(skipped, page('number | tests', '[T129](a) | `test/a.spec.ts` "stays"'))).toEqual([
      'docs/security/coverage.md:3: "stays" is skipped',
    ]);
  });

  it('a reason is a finding when a title has the number by now', () => {
    const titled = test("it('T129 stays', () => {});");
    expect(judge(titled, page('number | reason', '[T129](a) | It needs a year and an ocean.'))).toEqual([
      'docs/security/coverage.md:3: T129 is in the title of a test by now: remove the row',
    ]);
    expect(judge(titled, page('number | tests', '[T129](a) | `test/a.spec.ts` "T129 stays"'))).toEqual([]);
    expect(judge(titled, page('number | difference', '[T129](a) | Another figure is used there.'))).toEqual([]);
  });

  it('a weak spot without a row, and a row with an unknown one, are findings', () => {
    const files = new Map([
      ['docs/spec/attacks.md', catalogue],
      ['docs/security/coverage.md', spots.replace('W21', 'W22')],
      ['test/a.spec.ts', "it('T129 stays', () => {});"],
    ]);
    expect(checkCoverage(files, (file) => file.startsWith('test/')).findings.map(({ message }) => message)).toEqual([
      'W22: docs/spec/attacks.md has no such weak spot',
      'W21 has no row on docs/security/coverage.md',
    ]);
  });

  it('only files that a project of jest runs count as tests', () => {
    const isTest = testFilesOf({
      projects: [{ testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/db/**/*.db-spec.ts'] }],
    });
    const files = [
      'src/a.spec.ts',
      'src/a/b.spec.ts',
      'test/db/a.db-spec.ts',
      'src/a.ts',
      'src/a-spec.ts',
      'a.spec.ts',
    ];
    expect(files.map(isTest)).toEqual([true, true, true, false, false, false]);
  });

  it('finds nothing in this repository: every line of the catalogue has its test, or its row on the page', async () => {
    const { code, output } = await runScript('scripts/check-coverage.mjs');
    expect(output).toMatch(
      /^\d+ lines of the catalogue: \d+ in the titles of \d+ tests, \d+ covered .+, \d+ with a reason\n$/,
    );
    expect(code).toBe(0);
  }, 300_000);
});
