#!/usr/bin/env node
// npm run check:quick      types, lint, the rules of ranks and doors, unit tests, and the endpoint tests on SQLite
// npm run check:changed    the same for the files that differ from main, and the tests that import them
//
// Prints one line per step with its seconds, and the output of each failed step. The exit code is 1 when a step failed.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const changed = process.argv.includes('--changed');
const cache = 'node_modules/.cache';

const files = changed ? changedFiles() : ['.'];
const sources = changed ? files.filter((file) => /\.(ts|tsx|mts|mjs|cjs|js)$/.test(file)) : files;
// Lint and the tests of the packages read their builds, which the examples need as well.
const first = ['packages', 'node', 'scripts/build-examples.mjs'];
const tests = [
  'tests',
  'jest',
  '--maxWorkers=3',
  '--selectProjects',
  'unit',
  'spec-sqlite',
  ...(changed ? ['--changedSince=main'] : []),
];
const steps = [
  ['types', 'tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', `${cache}/tsc/server.tsbuildinfo`],
  ['laws', 'node', 'tools/check-deps.mjs', '--cache', `${cache}/depcruise`],
  ['format', 'prettier', '--check', '--cache', '--ignore-unknown', ...files],
  ['lint', 'eslint', '--cache', '--cache-location', `${cache}/eslint/`, '--no-warn-ignored', ...sources],
  ['references', 'node', 'scripts/check-references.mjs'],
];
if (sources.length === 0) steps.splice(3, 1);

const began = performance.now();
let failed = 0;
await run(first);
// Some tests wait for time-outs, so the other steps run beside them.
await Promise.all([
  sources.length === 0 ? undefined : run(tests),
  (async () => {
    for (const step of steps) await run(step);
  })(),
]);
console.log(`${failed === 0 ? 'passed' : `${failed} failed`} in ${seconds(began)}`);
process.exitCode = failed === 0 ? 0 : 1;

async function run([name, command, ...args]) {
  const start = performance.now();
  const program = command === 'node' ? process.execPath : `${root}node_modules/.bin/${command}`;
  const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  child.stdout.on('data', (piece) => output.push(piece));
  child.stderr.on('data', (piece) => output.push(piece));
  const [code] = await once(child, 'close');
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(10)} ${seconds(start)}`);
  if (code === 0) return;
  failed += 1;
  process.stdout.write(Buffer.concat(output));
}

/** Files that differ from main and untracked files, without deleted ones. */
function changedFiles() {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout.split('\n').filter(Boolean);
  const listed = [
    ...git('diff', '--name-only', '--diff-filter=d', 'main'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ];
  return [...new Set(listed)];
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
