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

  const filesOf = (config: string) => {
    const jest = [require.resolve('jest/bin/jest'), '--config', config, '--listTests', '--json'];
    const args = [...jest, '--selectProjects', 'spec-everything', 'db-sqlite', 'process'];
    return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' })) as string[];
  };

  it('a run of all tests has each file that jest finds, once', () => {
    const config = join(directory, 'jest.config.json');
    writeFileSync(config, JSON.stringify(inGroups(configuration, directory)));
    const files = filesOf(config);
    const required = files
      .filter(isGroup)
      .flatMap((group) => Array.from(readFileSync(group, 'utf8').matchAll(/require\("(.*)"\)/g), ([, file]) => file!));
    expect(required.length).toBeGreaterThan(50);
    expect([...files.filter((file) => !isGroup(file)), ...required].sort()).toEqual(filesOf('jest.config.js').sort());
  });
});
