import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies: Versions;
  readonly optionalDependencies: Versions;
  readonly devDependencies: Versions;
}

interface Row {
  readonly packages: readonly string[];
  readonly versions: readonly string[];
  readonly cells: readonly string[];
}

const read = (file: string): string => readFileSync(resolve(__dirname, '../..', file), 'utf8');

/** Each package needs a reason. The page gives it, and says what to do when the maintainer stops. */
describe('docs/dependencies.md', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json')) as Manifest;
  const ranges = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
  const rows: Row[] = [...read('docs/dependencies.md').matchAll(/^\| (`.*) \|$/gm)].map(([, row]) => {
    const cells = String(row).split(/ +\| +/);
    const packages = [...String(cells[0]).matchAll(/`([^`]+)`/g)].map(([, name]) => String(name));
    return { packages, versions: String(cells[1]).split(', '), cells };
  });
  const rowOf = (name: string) =>
    rows.find(({ packages }) => packages.includes(name.replace(/^@types\/.*/, '@types/*')));

  it.each(ranges)('says what %s is for, how it is maintained and what could replace it', (name) => {
    expect(
      rowOf(name)
        ?.cells.map((cell) => cell.trim())
        .filter(Boolean),
    ).toHaveLength(5);
  });

  it.each(ranges.filter(([name]) => !name.startsWith('@types/')))(
    'names the current major version of %s (%s)',
    (name, range) => {
      const { packages, versions } = rowOf(name) as Row;
      const version = versions[versions.length === 1 ? 0 : packages.indexOf(name)];
      expect(`${range.replace(/^[~^]/, '')}.`).toMatch(new RegExp(`^${version}\\.`));
    },
  );

  it('names no package that package.json does not have', () => {
    const known = new Set(ranges.map(([name]) => name));
    const named = rows.flatMap(({ packages }) => packages).filter((name) => name !== '@types/*');
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
  });
});
