import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const laws = createRequire(__filename)('../architecture/ranks.cjs') as { forbidden: { name: string }[] };
const root = resolve(__dirname, '../..');
const read = (file: string): string => readFileSync(resolve(root, file), 'utf8');
const folders = readdirSync(resolve(root, 'src'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
/** The rank of each module, as dependency-cruiser checks it. */
const ranks = laws.forbidden.flatMap(({ name }) => {
  const [, rank, module] = /^rank-(\d+)-(.+)$/.exec(name) ?? [];
  return module === undefined ? [] : [[module, Number(rank)] as const];
});
const codes = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => String(code));

describe('test/architecture/ranks.cjs', () => {
  it('gives every folder of src one rank, so that no module escapes the laws', () => {
    expect(ranks.map(([module]) => module).sort()).toEqual([...folders].sort());
  });
});

describe('docs/architecture.md', () => {
  const page = read('docs/architecture.md');

  it('has each module in its table of ranks, with the rank that is checked', () => {
    const rows = [...page.matchAll(/^\| (\d+) +\| (.*)\|$/gm)].flatMap(([, rank, modules]) =>
      codes(modules)
        .filter((name) => !name.endsWith('.ts'))
        .map((module) => [module, Number(rank)]),
    );
    expect(rows.sort()).toEqual([...ranks].sort());
  });

  it('says on its map what each folder of src contains', () => {
    const named = [...page.matchAll(/^\| (`src\/.*?)\|/gm)].flatMap(([, row]) => codes(row));
    expect(named.sort()).toEqual(folders.map((folder) => `src/${folder}`).sort());
  });

  it('shows a login before the table of all writes', () => {
    const [login, writes] = ['\n## Login\n', '\n| write '].map((text) => page.indexOf(text));
    expect(login).toBeGreaterThan(0);
    expect(writes).toBeGreaterThan(Number(login));
  });
});

describe('docs/adr/README.md', () => {
  const records = readdirSync(resolve(root, 'docs/adr')).filter((name) => name !== 'README.md');
  const rows = [...read('docs/adr/README.md').matchAll(/^\| \[(\d{4})\]\(([^)]+)\) +\| (.+?) +\| (.+?) +\|$/gm)];
  const superseding = (status = '') => [...status.matchAll(/superseded|\]\((\d{4}-[^)]+)\)/g)].map(([text]) => text);

  it('has one line for each record, in their order', () => {
    expect(rows.map(([, number, file]) => [number, file])).toEqual(records.map((name) => [name.slice(0, 4), name]));
  });

  it.each(rows.map(([, , file = '', , status]) => [file, status]))(
    'says of %s what the record itself says: accepted, or superseded by a record that exists',
    (file, status) => {
      const [, own = ''] = /^Status: ([^]*?)\n\n/m.exec(read(`docs/adr/${file}`)) ?? [];
      expect(own).toMatch(/^accepted|^superseded/);
      expect(superseding(status)).toEqual(superseding(own).filter((text, i, all) => all.indexOf(text) === i));
      for (const [, other = ''] of String(status).matchAll(/\]\(([^)]+)\)/g)) {
        expect(existsSync(resolve(root, 'docs/adr', other))).toBe(true);
      }
    },
  );
});
