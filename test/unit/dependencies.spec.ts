import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { lockedPackages, lockedTools } from '../../scripts/shipped-packages.mjs';

type Versions = Readonly<Record<string, string>>;

interface Overrides {
  readonly [name: string]: string | Overrides;
}

interface Manifest {
  readonly dependencies: Versions;
  readonly optionalDependencies: Versions;
  readonly devDependencies: Versions;
  readonly allowScripts: Readonly<Record<string, boolean>>;
  readonly overrides: Overrides;
}

interface Row {
  readonly packages: readonly string[];
  readonly versions: readonly string[];
  readonly cells: readonly string[];
}

/** @returns undefined when git does not know the commit, as in a shallow clone or an archive */
function manifestOf(commit: string): Manifest | undefined {
  const { status, stdout } = spawnSync('git', ['show', `${commit}:package.json`], {
    cwd: resolve(__dirname, '../..'),
    encoding: 'utf8',
  });
  return status === 0 ? (JSON.parse(stdout) as Manifest) : undefined;
}

const has = (manifest: Partial<Manifest> | undefined, name: string): boolean =>
  name in { ...manifest?.dependencies, ...manifest?.optionalDependencies, ...manifest?.devDependencies };

const read = (file: string): string => readFileSync(resolve(__dirname, '../..', file), 'utf8');

/** Each package needs a reason. The page gives it, and says what to do when the maintainer stops. */
describe('docs/dependencies.md', () => {
  const { dependencies, optionalDependencies, ...project } = JSON.parse(read('package.json')) as Manifest;
  const tools = JSON.parse(read('tools/package.json')) as Manifest;
  const allowScripts = { ...project.allowScripts, ...tools.allowScripts };
  const ranges = Object.entries({
    ...dependencies,
    ...optionalDependencies,
    ...tools.devDependencies,
    ...project.devDependencies,
  });
  const [tables = '', afterwards = ''] = read('docs/dependencies.md').split('\n## Overrides');
  const rows: Row[] = [...tables.matchAll(/^\| (`.*) \|$/gm)].map(([, row]) => {
    const cells = String(row).split(/ +\| +/);
    const packages = [...String(cells[0]).matchAll(/`([^`]+)`/g)].map(([, name]) => String(name));
    return { packages, versions: String(cells[1]).split(', '), cells };
  });
  const rowOf = (name: string) =>
    rows.find(({ packages }) => packages.includes(name.replace(/^@types\/.*/, '@types/*')));

  it.each(ranges)('says what %s is for, since when, how it is maintained and what could replace it', (name) => {
    expect(
      rowOf(name)
        ?.cells.map((cell) => cell.trim())
        .filter(Boolean),
    ).toHaveLength(6);
  });

  it('says for each override what it puts in the place of what, and why', () => {
    const leaves = (overrides: Overrides): [string, string][] =>
      Object.entries(overrides).flatMap(([name, to]) =>
        typeof to === 'string' ? [[name, to] as [string, string]] : leaves(to),
      );
    const wanted = [project, tools].flatMap(({ overrides }) => leaves(overrides));
    const [table = ''] = afterwards.split('\n## ');
    const told = [...table.matchAll(/^\| `([^`]+)` +\| (.+?) +\| (.{8,}?) +\|$/gm)].map(([, name, to]) => [name, to]);
    const instead = (to: string) =>
      to.startsWith('$')
        ? 'that of the project'
        : to.includes('empty')
          ? '`empty-npm-package`'
          : to.replace(/^\^?(\d+)(\.[1-9]\d*)?\..*$/, '$1$2');
    expect(new Map(told as [string, string][])).toEqual(new Map(wanted.map(([name, to]) => [name, instead(to)])));
  });

  it.each([
    ...[
      '@nestjs/core',
      '@nestjs/common',
      '@nestjs/jwt',
      '@nestjs/passport',
      '@nestjs/throttler',
      '@nestjs-modules/mailer',
    ],
    ...['passport', 'passport-jwt', 'passport-ldapauth', 'typeorm', 'mysql2', 'class-validator', 'class-transformer'],
    ...['bcryptjs', 'speakeasy', 'qrcode', 'jest'],
  ])('says that the design card names %s, so that nobody replaces it by a better one', (name) => {
    expect(rowOf(name)?.cells[3]).toContain('named by the design card of the project');
  });

  it.each(ranges.filter(([name]) => !name.startsWith('@types/')))(
    'names the current major version of %s (%s)',
    (name, range) => {
      const { packages, versions } = rowOf(name) as Row;
      const version = versions[versions.length === 1 ? 0 : packages.indexOf(name)];
      expect(`${range.replace(/^npm:.+@|^[~^]/, '')}.`).toMatch(new RegExp(`^${version}\\.`));
    },
  );

  it('says since when each package is used: the date, and the commit once there is one', () => {
    const dates = rows.map(({ cells }) => String(cells[2]).trim());
    expect(dates.filter((date) => !/^\d{4}-\d\d-\d\d( [0-9a-f]{7,40})?$/.test(date))).toEqual([]);
  });

  it('each of these commits has added the package', () => {
    const manifests = new Map<string, Manifest | undefined>();
    const at = (commit: string) => {
      if (!manifests.has(commit)) manifests.set(commit, manifestOf(commit));
      return manifests.get(commit);
    };
    const wrong = ranges.filter(([name]) => {
      const [, commit] = String(rowOf(name)?.cells[2]).trim().split(' ');
      if (commit === undefined || at(commit) === undefined) return false;
      return !has(at(commit), name) || has(at(`${commit}~1`), name);
    });
    expect(wrong).toEqual([]);
  });

  it('names no package that neither package.json nor that of tools/ has', () => {
    const known = new Set(ranges.map(([name]) => name));
    const named = rows.flatMap(({ packages }) => packages).filter((name) => name !== '@types/*');
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    expect(new Set(named).size).toBe(named.length);
  });

  /** Without a hash in the lock file, npm installs whatever the registry sends. */
  it('names each kind of package that has no hash in the lock file', () => {
    const [, section = ''] = read('docs/dependencies.md').split('\n## Binaries without a hash');
    const kinds = [...section.matchAll(/^\| `([^`*]+)\*`/gm)].map(([, prefix]) => String(prefix));
    const without = [...lockedPackages(), ...lockedTools()].filter(
      ({ place, hash }) => place.startsWith('node_modules/') && hash === undefined,
    );
    expect(without.filter(({ name }) => !kinds.some((kind) => name.startsWith(kind)))).toEqual([]);
    expect(kinds.filter((kind) => !without.some(({ name }) => name.startsWith(kind)))).toEqual([]);
    // The image runs on Linux with glibc.
    expect(without.map(({ name }) => name)).not.toContain('@node-rs/bcrypt-linux-x64-gnu');
  });

  /** An install script is code that runs on every machine that installs the package. */
  describe('install scripts', () => {
    const withScript = [...lockedPackages(), ...lockedTools()].flatMap(({ name, hasInstallScript }) =>
      hasInstallScript ? [name] : [],
    );
    const [, page = ''] = read('docs/dependencies.md').split('\n## Install scripts');

    it('each one of the lock files is named in allowScripts, and nothing else is', () => {
      expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withScript)].sort());
    });

    it.each(Object.entries(allowScripts))(
      'the page says of %s whether it may run (%s), and what it does',
      (name, may) => {
        expect(page).toMatch(new RegExp(`^\\| \`${name}\` +\\| ${may ? 'yes' : 'no'} +\\| [^|]{20,}\\|$`, 'm'));
      },
    );
  });
});
