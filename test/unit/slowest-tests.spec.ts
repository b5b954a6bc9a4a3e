import { join } from 'node:path';
import { slowestTests } from '../../scripts/slowest-tests.mjs';

describe('the lists at the end of npm test', () => {
  const result = (fullName: string, more = {}) => ({
    fullName,
    ancestorTitles: [] as string[],
    status: 'passed',
    duration: 5,
    invocations: 1,
    ...more,
  });

  it('name the slowest first, and each test that passed only at a second attempt', () => {
    const name = join(__dirname, '../browser/pages.browser-spec.ts');
    const assertionResults = [
      result('quick'),
      result('slow', { duration: 2000 }),
      result('hung once', { invocations: 2 }),
      result('failed twice', { invocations: 2, status: 'failed' }),
    ];
    const lines = slowestTests({ testResults: [{ name, startTime: 0, endTime: 3000, assertionResults }] }, 1);
    expect(lines).toEqual([
      'The slowest 1 files:',
      '    3.0 s  test/browser/pages.browser-spec.ts (4 tests)',
      'The slowest 1 tests:',
      '    2.0 s  test/browser/pages.browser-spec.ts: slow',
      'Passed only at a second attempt:',
      'test/browser/pages.browser-spec.ts: hung once',
    ]);
  });

  it('name the files of a group, not the group', () => {
    const [one, other] = ['test/spec/login.e2e-spec.ts', 'test/spec/logout.e2e-spec.ts'];
    const assertionResults = [one, other].map((file) => result(`${file} answers`, { ancestorTitles: [file] }));
    const group = { name: '/tmp/tests-1/groups/spec-sqlite/2.js', startTime: 0, endTime: 3000, assertionResults };
    expect(slowestTests({ testResults: [group] }, 2)).toEqual([
      'The slowest 2 files:',
      `    0.0 s  ${one} (1 tests)`,
      `    0.0 s  ${other} (1 tests)`,
      'The slowest 2 tests:',
      `    0.0 s  ${one}: answers`,
      `    0.0 s  ${other}: answers`,
    ]);
  });
});
