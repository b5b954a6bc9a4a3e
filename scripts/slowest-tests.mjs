#!/usr/bin/env node
// node scripts/slowest-tests.mjs RESULT [COUNT]
//
// Prints the slowest tests of a run from the JSON result of jest (`--json --outputFile=RESULT`), and the tests that passed
// only at a second attempt. `npm test` prints 30 of the slowest at its end. The time of hooks such as beforeAll is not in the
// result, so that files are listed by their whole time. Only a file in a group (test-groups.mjs) has the time of its tests alone.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isGroup } from './test-groups.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The lines of the lists: the slowest files, the slowest tests, and the tests that needed a second attempt. */
export function slowestTests({ testResults = [] }, count = 30) {
  const files = testResults.flatMap(filesOf);
  const tests = files.flatMap(({ file, tests }) =>
    tests.map(({ fullName, duration, status, invocations }) => ({
      ...{ file, fullName: fullName.replace(`${file} `, ''), ms: duration ?? 0 },
      again: status === 'passed' && invocations > 1,
    })),
  );
  const again = tests.filter((test) => test.again);
  return [
    `The slowest ${count} files:`,
    ...slowest(files, count).map(({ ms, file, tests }) => `${seconds(ms)}  ${file} (${tests.length} tests)`),
    `The slowest ${count} tests:`,
    ...slowest(tests, count).map(({ ms, file, fullName }) => `${seconds(ms)}  ${file}: ${fullName}`),
    ...(again.length > 0 ? ['Passed only at a second attempt:'] : []),
    ...again.map(({ file, fullName }) => `${file}: ${fullName}`),
  ];
}

function filesOf({ name, startTime, endTime, assertionResults: tests }) {
  if (!isGroup(name)) return [{ file: relative(root, name), ms: endTime - startTime, tests }];
  return [...new Set(tests.map(({ ancestorTitles: [file] }) => file))].map((file) => {
    const own = tests.filter(({ ancestorTitles }) => ancestorTitles[0] === file);
    return { file, ms: own.reduce((sum, { duration }) => sum + (duration ?? 0), 0), tests: own };
  });
}

const slowest = (entries, count) => entries.sort((one, other) => other.ms - one.ms).slice(0, count);
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(7)} s`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file, count] = process.argv;
  if (file === undefined) throw new Error('say which result of jest to read: node scripts/slowest-tests.mjs RESULT');
  console.log(slowestTests(JSON.parse(readFileSync(file, 'utf8')), count && Number(count)).join('\n'));
}
