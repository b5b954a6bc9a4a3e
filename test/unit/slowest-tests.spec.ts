import { join } from 'node:path';
import { slowestTests } from '../../scripts/slowest-tests.mjs';

describe('the lists at the end of npm test', () => {
  const result = (fullName: string, more = {}) => ({
    fullName,
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
});
