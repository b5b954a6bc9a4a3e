import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inThePages, lockedPackages } from '../../scripts/shipped-packages.mjs';
import { knownLicences } from '../../scripts/known-licences.mjs';
import { runScript } from '../support/run-script';

const root = resolve(__dirname, '../..');

describe('docs/licences.md', () => {
  it('has the counts of the lock file, and a reason for each licence that is not permissive', async () => {
    expect(await runScript('scripts/licences.mjs', '--check')).toEqual({ code: 0, output: '' });
  });

  it('no package of the product is under a copyleft licence', () => {
    const copyleft = lockedPackages().filter(
      ({ ships, licence = '' }) => ships && /GPL|MPL|EPL|CDDL|CC-BY/.test(licence),
    );
    expect(copyleft).toEqual([]);
  });

  it.each(Object.entries(knownLicences).filter(([, licence]) => licence === 'MIT'))(
    '%s has the text of its licence, %s, in the package',
    (name) => {
      const places = ['node_modules', 'tools/node_modules'].map((folder) => join(root, folder, name));
      const folder = places.find((place) => existsSync(place))!;
      const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|readme)/i.test(file));
      expect(texts.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')).toMatch(/\bMIT license\b/i);
    },
  );
});

describe('the packages of the product', () => {
  it('are those that the pages import, too', () => {
    const folders = ['portal/src', 'sdk/typescript/src'];
    const imported = folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('generated'))
        .flatMap((file) => [
          ...readFileSync(join(root, folder, file), 'utf8').matchAll(/(?:from|import) '((?:@[\w-]+\/)?[a-z][\w.-]*)/g),
        ])
        .map(([, name]) => String(name)),
    );
    const ships = new Set(lockedPackages().flatMap(({ name, ships }) => (ships ? [name] : [])));
    const own = ['@portal-auth/sdk', '@portal-auth/guard'];
    expect(imported).toEqual(expect.arrayContaining(['react', 'wouter']));
    expect([...new Set(imported)].filter((name) => !ships.has(name) && !own.includes(name))).toEqual([]);
    expect(inThePages.filter((name) => !ships.has(name))).toEqual([]);
  });

  it('are not those that only build: React is in the pages, Vite is not', () => {
    const lock = {
      packages: {
        '': {},
        'node_modules/react': { version: '1.0.0', dev: true, dependencies: { inner: '1' } },
        'node_modules/react/node_modules/inner': { version: '2.0.0', dev: true },
        'node_modules/inner': { version: '1.0.0', dev: true },
        'node_modules/vite': { version: '1.0.0', dev: true },
        'node_modules/pino': { version: '1.0.0' },
      },
    };
    const shipped = lockedPackages(lock).flatMap(({ place, ships }) => (ships ? [place] : []));
    expect(shipped).toEqual(['node_modules/react', 'node_modules/react/node_modules/inner', 'node_modules/pino']);
  });
});
