import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { asvsLevels } from '../support/security/asvs-levels';
import { namedFile, namesOfFiles } from '../support/test-names';

const read = (page: string): string => readFileSync(resolve(__dirname, '../../docs/security', page), 'utf8');
const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());

describe.each(['asvs.md', 'oauth.md', 'threat-model.md'])('docs/security/%s', (page) => {
  const names = [...new Set(namesOfFiles(read(page)))];

  it('names tests', () => expect(names.length).toBeGreaterThan(30));

  it.each(names)('names an existing file: %s', (name) => expect(namedFile(name)).toEqual(expect.any(String)));
});

const states = ['met', 'by setting', 'partly', 'not met', 'not applicable'];

function expectProofOrReason(state: string, answer: string): void {
  expect(states).toContain(state);
  const proof = namesOfFiles(answer).length > 0 || /\]\((?!\.\.\/spec\/attacks)/.test(answer);
  const reason = answer.replace(/`[^`]*`|\[[^\]]*\]\([^)]*\)|\([^)]*\)|[,;:.\s]/g, '');
  if (state === 'met' || state === 'by setting' || state === 'partly') expect([answer, proof]).toEqual([answer, true]);
  if (state !== 'met') expect([answer, reason.length > 10]).toEqual([answer, true]);
}

/** An auditor must not find out that a requirement was left out silently. */
describe('the requirements of OWASP ASVS 5.0', () => {
  const rows = [...read('asvs.md').matchAll(/^\| \d+\.\d+\.\d+ .*\|$/gm)].map(([row]) => cellsOf(row));

  it('each number of the chapters is there once, with its level', () => {
    const found = rows.map(([number, level]) => [number, Number(level)]);
    expect(Object.fromEntries(found)).toEqual(asvsLevels);
    expect(rows).toHaveLength(Object.keys(asvsLevels).length);
  });

  it.each(rows)('%s (level %s), %s: %s, with a test or a page, or with a reason', (...row) => {
    const [, , what = '', state = '', answer = ''] = row;
    expect(row).toHaveLength(5);
    expect(what).not.toBe('');
    expectProofOrReason(state, answer);
  });

  it('the page counts them right', () => {
    const count = (state: string) => rows.filter((row) => row[3] === state).length;
    const counts = states.map((state) => `${count(state)} are ${state}`).join(', ');
    expect(read('asvs.md')).toContain(`Of ${rows.length} requirements, ${counts}.`);
  });
});

describe('the demands of RFC 9700, RFC 8725 and RFC 9449', () => {
  const rows = [...read('oauth.md').matchAll(/^\| \d[\d., ()]* +\| .*\|$/gm)].map(([row]) => cellsOf(row));

  it('are listed by section', () => expect(rows.length).toBeGreaterThan(60));

  it.each(rows)('%s, %s: %s, with a test or with a reason', (...row) => {
    const [, what = '', state = '', answer = ''] = row;
    expect(row).toHaveLength(4);
    expect(what).not.toBe('');
    expectProofOrReason(state, answer);
  });
});

describe('the threat model', () => {
  const page = read('threat-model.md');
  const [diagram = ''] = /^```mermaid\n[^]*?^```/m.exec(page) ?? [];
  const flows = [...page.matchAll(/^### (F\d+) [^]*?(?=^##)/gm)].map(([text, name]) => ({ name: String(name), text }));

  it('has each way of the diagram, and no other', () => {
    const drawn = new Set([...diagram.matchAll(/\bF\d+\b/g)].map(([name]) => name));
    expect(flows.map(({ name }) => name).sort()).toEqual([...drawn].sort());
  });

  it('describes each border of the diagram, and no other', () => {
    const drawn = new Set([...diagram.matchAll(/\bB\d+\b/g)].map(([name]) => name));
    const described = [...page.matchAll(/^\| (B\d+) /gm)].map(([, name]) => String(name));
    // B7 and B8 are people: operators and administrators.
    expect(described.sort()).toEqual([...drawn, 'B7', 'B8'].sort());
  });

  it.each(flows)('looks at $name by all six letters of STRIDE, each with an answer and a test', ({ text }) => {
    const rows = [...text.matchAll(/^\| (?!threat|-)(.*)\|$/gm)].map(([row]) => cellsOf(row));
    const kinds = ['spoofing', 'tampering', 'repudiation', 'disclosure', 'denial of service', 'elevation'];
    expect(new Set(rows.map(([kind]) => kind))).toEqual(new Set(kinds));
    for (const [, what = '', answer = '', test = ''] of rows) {
      expect(what.length).toBeGreaterThan(5);
      expect(answer.length).toBeGreaterThan(5);
      const accepted = answer.endsWith('Accepted') && test.includes('](');
      expect([test, accepted || namesOfFiles(test).length > 0]).toEqual([test, true]);
    }
  });
});
