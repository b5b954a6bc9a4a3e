import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const { minVersion, satisfies } = createRequire(__filename)('semver') as {
  minVersion(range: string): string;
  satisfies(version: string, range: string): boolean;
};

interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
  readonly engines?: { readonly node?: string };
}

const read = (file: string): unknown => JSON.parse(readFileSync(resolve(__dirname, '../..', file), 'utf8'));

/** npm warns (EBADENGINE) about a package that does not support the Node it runs on. */
describe('the versions of Node in package.json', () => {
  const { engines } = read('package.json') as { engines: { node: string } };
  const lockFiles = ['package-lock.json', 'tools/package-lock.json'].map(
    (file) => (read(file) as { packages: Record<string, Locked> }).packages,
  );
  // The lowest version of each release line: ^20.19, ^22.13, >=24.11.
  const floors = engines.node.split('||').map((line) => String(minVersion(line)));

  it.each(floors)('%s is supported by every package of the lock files', (floor) => {
    const unsupported = lockFiles
      .flatMap((packages) => Object.entries(packages))
      .filter(([, { engines: wanted }]) => wanted?.node !== undefined && !satisfies(floor, wanted.node))
      .map(([path, { version }]) => `${path}@${version}`);
    expect(unsupported).toEqual([]);
  });
});
