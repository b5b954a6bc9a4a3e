#!/usr/bin/env node
// npm test [-- [--help] [--only <project> ...] [--no-build] [jest arguments]]
//
// Runs the tests from a fresh clone: installs the server programs, builds the project, and runs jest with a private
// temporary directory that is deleted at the end. Jest itself starts the servers, so that `npx jest <file>` has them as
// well (jest.config.js).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { ensurePrograms } from '../test/support/servers/install-servers.mjs';
import { slowestTests } from './slowest-tests.mjs';
import { inGroups } from './test-groups.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const require = createRequire(import.meta.url);

const SAMBA = ['samba', 'samba-provision'];
const CLUSTER = ['galera', 'rsync', 'haproxy'];
const PROXIES = ['nginx', 'apache2', 'lua-socket', 'apache-openidc'];
const COMPANY = ['plackup', 'lemonldap', 'perl-io-string', 'perl-string-random'];
const SERVERS = [
  'mariadbd',
  ...CLUSTER,
  'redis-server',
  'slapd',
  'ldapadd',
  ...SAMBA,
  ...PROXIES,
  ...COMPANY,
  'openssl',
];
/** For docs/without-the-guard.md. */
const PYTHON_JWT = ['python3', 'python3-jwt', 'python3-cryptography'];
const LANGUAGES = [
  'javac',
  ...['go', 'go-oauth2'],
  ...['php', 'php-mbstring', 'php-guzzle'],
  ...['python3-urllib3', 'python3-dateutil', 'python3-certifi', 'python3-flask', ...PYTHON_JWT],
  ...['python3-authlib', 'python3-requests'],
];
const EVERYTHING = [...SERVERS, ...LANGUAGES, 'promtool', 'chromium'];
/** The programs that each test project needs. A project that is not listed needs all of them. */
const NEEDED = {
  unit: ['promtool'],
  'spec-sqlite': PYTHON_JWT,
  'spec-mariadb': ['mariadbd', ...PYTHON_JWT],
  'spec-everything': [],
  'db-sqlite': [],
  'db-mariadb': ['mariadbd'],
  process: [...SERVERS, ...LANGUAGES, 'chromium'],
  browser: ['chromium'],
};
/** A process group that has not ended after this time gets SIGKILL. */
const PATIENCE_MS = 10_000;

let interruption;
let running;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    interruption ??= signal;
    if (running !== undefined) void endGroup(running);
  });
}

process.exitCode = await main(process.argv.slice(2)).catch((error) => {
  if (!interruption) console.error(error.message);
  return 1;
});
if (interruption) process.exitCode = 128 + constants.signals[interruption];

async function main(args) {
  if (args.includes('--help') || args.includes('-h')) {
    console.log(usage());
    return 0;
  }
  const { only, build, jestArguments } = readArguments(args);
  const programs = only ? new Set(only.flatMap((project) => NEEDED[project] ?? EVERYTHING)) : EVERYTHING;
  await ensurePrograms([...programs], runInstaller, (line) => console.log(line));
  for (const script of build ? ['build', 'build:examples'] : []) await run('npm', ['run', script]);

  const directory = mkdtempSync(join(tmpdir(), 'tests-'));
  // A program of a test that runs as another user reaches its own folder below this one.
  chmodSync(directory, 0o711);
  try {
    const resultFile = join(directory, 'result.json');
    const report = ['--ci', '--json', `--outputFile=${resultFile}`];
    const selection = only ? ['--selectProjects', ...only] : [];
    // Arguments of jest name test files, which a run in groups does not have.
    const grouping = jestArguments.length === 0 ? ['--config', groupedConfiguration(directory)] : [];
    const jest = [require.resolve('jest/bin/jest'), ...report, ...grouping, ...jestArguments, ...selection];
    const code = await exitCodeOf(process.execPath, jest, { TMPDIR: directory, TEST_RUN_DIRECTORY: directory });
    if (!interruption) console.log([...slowestTests(readResult(resultFile)), countLine(code, resultFile)].join('\n'));
    return code;
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Writes the configuration of a run of whole projects. */
function groupedConfiguration(directory) {
  const file = join(directory, 'jest.config.json');
  writeFileSync(file, JSON.stringify(inGroups(require('../jest.config.js'), directory)));
  return file;
}

/** The comment at the head of this file. */
function usage() {
  const lines = readFileSync(fileURLToPath(import.meta.url), 'utf8')
    .split('\n')
    .slice(1);
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return lines
    .slice(0, end)
    .map((line) => line.replace(/^\/\/ ?/, ''))
    .join('\n');
}

/** `--only` takes the project names that follow it, separated by spaces or commas. Other arguments go to jest. */
function readArguments(args) {
  const known = require('../jest.config.js').projects.map(({ displayName }) => displayName);
  const own = new Set(['--only', '--no-build']);
  const start = args.indexOf('--only');
  if (start < 0) return { build: !args.includes('--no-build'), jestArguments: args.filter((arg) => !own.has(arg)) };

  const isProject = (arg) => arg.split(',').every((name) => known.includes(name));
  const end = args.findIndex((arg, index) => index > start && !isProject(arg));
  const only = args.slice(start + 1, end < 0 ? args.length : end).flatMap((arg) => arg.split(','));
  if (only.length === 0) throw new Error(`--only needs names of test projects: ${known.join(', ')}`);
  const others = [...args.slice(0, start), ...(end < 0 ? [] : args.slice(end))];
  return { only, build: !others.includes('--no-build'), jestArguments: others.filter((arg) => !own.has(arg)) };
}

/** A test file that cannot be loaded counts as one failed test. So does a run that fails without a failed test. */
function countLine(code, resultFile) {
  const result = readResult(resultFile);
  const failed = Math.max(result.numFailedTests + result.numRuntimeErrorTestSuites, code === 0 ? 0 : 1);
  const skipped = result.numPendingTests + result.numTodoTests;
  return `${result.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function readResult(file) {
  const nothing = {
    numPassedTests: 0,
    numFailedTests: 0,
    numRuntimeErrorTestSuites: 0,
    numPendingTests: 0,
    numTodoTests: 0,
  };
  try {
    return { ...nothing, ...JSON.parse(readFileSync(file, 'utf8')) };
  } catch {
    return nothing;
  }
}

async function run(command, args) {
  const code = await exitCodeOf(command, args);
  if (code !== 0) throw new Error(`"${command} ${args.join(' ')}" failed with exit code ${code}`);
}

/** An interrupt does not end the installer, because a killed package manager leaves packages half installed. */
async function runInstaller(command, args, env = {}) {
  const child = start(command, args, env);
  const [code] = await once(child, 'exit');
  if (interruption) throw new Error('interrupted');
  if (code !== 0) throw new Error(`"${command} ${args.join(' ')}" failed with exit code ${code}`);
}

async function exitCodeOf(command, args, env) {
  if (interruption) throw new Error('interrupted');
  const child = start(command, args, env);
  running = child.pid;
  const [code, signal] = await once(child, 'exit');
  await endGroup(child.pid);
  running = undefined;
  return code ?? 128 + constants.signals[signal];
}

/** Starts a process group, so that all descendants can be ended without touching other processes. */
function start(command, args, env) {
  return spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  });
}

async function endGroup(leader) {
  const deadline = performance.now() + PATIENCE_MS;
  for (let alive = signalGroup(leader, 'SIGTERM'); alive; alive = signalGroup(leader, 0)) {
    if (performance.now() > deadline) signalGroup(leader, 'SIGKILL');
    await pause(50);
  }
}

function signalGroup(leader, signal) {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}
