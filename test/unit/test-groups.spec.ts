import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { inGroups, isGroup } from '../../scripts/test-groups.mjs';

const configuration = createRequire(__filename)('../../jest.config.js') as Parameters<typeof inGroups>[0];
const root = resolve(__dirname, '../..');

describe('the groups of test files', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'groups-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const filesOf = (config: string, projects: readonly string[]) => {
    const jest = [require.resolve('jest/bin/jest'), '--config', config, '--listTests', '--json'];
    const args = [...jest, '--selectProjects', ...projects];
    return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })) as string[];
  };

  // No file is in two of these projects: jest would list it once.
  it.each([
    ['SQLite', ['spec-sqlite', 'db-sqlite']],
    ['MariaDB', ['spec-mariadb', 'spec-everything', 'db-mariadb', 'process']],
  ])('a run of all tests on %s has each file that jest finds, once', (_database, projects) => {
    const config = join(directory, 'jest.config.json');
    writeFileSync(config, JSON.stringify(inGroups(configuration, directory)));
    const files = filesOf(config, projects);
    const required = files
      .filter(isGroup)
      .flatMap((group) => Array.from(readFileSync(group, 'utf8').matchAll(/require\("(.*)"\)/g), ([, file]) => file!));
    expect(required.length).toBeGreaterThan(50);
    const alone = files.filter((file) => !isGroup(file));
    expect([...alone, ...required].sort()).toEqual(filesOf('jest.config.js', projects).sort());
  });
});
