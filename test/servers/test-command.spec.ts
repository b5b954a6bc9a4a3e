import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

import { eventually } from '../support/servers/eventually';

const ROOT = resolve(__dirname, '../..');
const SERVERS = join(ROOT, 'test/support/servers');

/** Code for the inner tests: it queries the MariaDB that they were given, and writes the result to a file. */
const USES_MARIADB = `
  const { createConnection } = require(${JSON.stringify(join(ROOT, 'node_modules/mysql2/promise'))});
  const { renameSync, writeFileSync } = require('node:fs');
  const ask = async () => {
    const { TEST_MARIADB_URL: url, TEST_MARIADB_LOG: log, TMPDIR: temporary } = process.env;
    const connection = await createConnection(url);
    await connection.query('SELECT 1');
    await connection.end();
    // The complete file is renamed, so that a reader that waits for the final name never reads half a file.
    writeFileSync(__dirname + '/seen.part', JSON.stringify({ url, log, temporary }));
    renameSync(__dirname + '/seen.part', __dirname + '/seen.json');
  };
`;

interface Seen {
  url: string;
  log: string;
  temporary: string;
}

describe('the test command', () => {
  let directory: string;
  let command: ChildProcess | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'project-'));
  });

  afterEach(async () => {
    if (command?.exitCode === null && command.signalCode === null) {
      command.kill('SIGTERM');
      await once(command, 'exit');
    }
    await rm(directory, { recursive: true });
  });

  /** Starts the command with a temporary jest project of the given test files. */
  async function start(tests: Record<string, string>, args: string[] = []): Promise<ChildProcess> {
    const files = Object.entries(tests);
    await Promise.all(files.map(([name, body]) => writeFile(join(directory, `${name}.spec.js`), body)));
    const config = {
      rootDir: directory,
      testMatch: ['<rootDir>/*.spec.js'],
      transform: { '\\.ts$': require.resolve('@swc/jest') },
      ...(files.some(([, body]) => body.includes('TEST_MARIADB_URL')) && {
        globalSetup: join(SERVERS, 'shared-mariadb-setup.ts'),
        globalTeardown: join(SERVERS, 'shared-mariadb-teardown.ts'),
      }),
    };
    await writeFile(join(directory, 'jest.json'), JSON.stringify(config));
    return testCommand(['-c', join(directory, 'jest.json'), ...args]);
  }

  function testCommand(args: string[]): ChildProcess {
    // The inner run must not use the MariaDB of the current run.
    const env = { ...process.env, TEST_MARIADB_URL: undefined, TEST_MARIADB_LOG: undefined };
    command = spawn(process.execPath, [join(ROOT, 'scripts/test.mjs'), '--no-build', ...args], {
      env: { ...env, TMPDIR: directory },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return command;
  }

  async function outcome(child: ChildProcess) {
    const [output, complaints, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, 'exit') as Promise<[number]>,
    ]);
    return { code, complaints, output, lastLine: output.trimEnd().split('\n').at(-1) };
  }

  async function seen(): Promise<Seen> {
    return JSON.parse(await readFile(join(directory, 'seen.json'), 'utf8')) as Seen;
  }

  async function isRefused(url: string): Promise<boolean> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    return once(socket, 'connect').then(
      () => (socket.destroy(), false),
      () => true,
    );
  }

  it('ends with exit code 0 and only the numbers on its last line', async () => {
    const { code, lastLine } = await outcome(await start({ good: `test('a', () => {}); test('b', () => {});` }));
    expect({ code, lastLine }).toEqual({ code: 0, lastLine: '2 passed, 0 failed' });
  });

  it('lists the slowest tests and files before the numbers', async () => {
    const wait = (ms: number) => `async () => new Promise((done) => setTimeout(done, ${ms}))`;
    const tests = { one: `test('first', () => {}); test('second', ${wait(900)});`, other: `test('third', () => {});` };
    const { output } = await outcome(await start(tests));
    expect(output).toMatch(
      /The slowest 30 files:\n.* s {2}.*one\.spec\.js \(2 tests\)\n.* s {2}.*other\.spec\.js \(1 tests\)/,
    );
    expect(output).toMatch(/The slowest 30 tests:\n.* s {2}.*one\.spec\.js: second\n/);
  });

  it('counts failed and skipped tests, and a file that cannot be loaded as a failed test', async () => {
    const tests = {
      mixed: `test('a', () => {}); test('b', () => { throw new Error('no'); }); test.skip('c', () => {}); test.todo('d');`,
      broken: `require('./nothing-of-this-name');`,
    };
    const { code, lastLine } = await outcome(await start(tests));
    expect({ code, lastLine }).toEqual({ code: 1, lastLine: '1 passed, 2 failed, 2 skipped' });
  });

  it('reports at least one failure when it fails', async () => {
    const { code, lastLine } = await outcome(await start({ good: `test('a', () => {});` }, ['no-such-file']));
    expect({ code, lastLine }).toEqual({ code: 1, lastLine: '0 passed, 1 failed' });
  });

  it('gives the tests a MariaDB, and removes it at the end', async () => {
    const { code, lastLine } = await outcome(await start({ asks: `${USES_MARIADB} test('a', ask, 300000);` }));
    expect({ code, lastLine }).toEqual({ code: 0, lastLine: '1 passed, 0 failed' });
    const { url, log, temporary } = await seen();
    expect(log.startsWith(temporary)).toBe(true);
    expect(await isRefused(url)).toBe(true);
    expect(existsSync(temporary)).toBe(false);
    expect(await readdir(directory)).toEqual(['asks.spec.js', 'jest.json', 'seen.json']);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('at %s ends all processes that it started', async (signal, expected) => {
    const hangs = `${USES_MARIADB} test('a', async () => { await ask(); await new Promise(() => setInterval(() => {}, 1000)); }, 300000);`;
    const child = await start({ hangs });
    const ending = outcome(child);
    await eventually(() => existsSync(join(directory, 'seen.json')), {
      what: 'the test has its MariaDB',
      timeout: 300_000,
    });
    expect(await isRefused((await seen()).url)).toBe(false);

    child.kill(signal);
    expect((await ending).code).toBe(expected);
    const { url, temporary } = await seen();
    expect(await isRefused(url)).toBe(true);
    expect(existsSync(temporary)).toBe(false);
  });

  it('runs the named projects, and passes the other arguments to jest', async () => {
    const rest = ['--passWithNoTests', '-t', 'all have a Debian package', 'test/servers/needed-programs'];
    const named = await outcome(testCommand(['--only', 'unit,servers', 'db-sqlite', ...rest]));
    expect(named.lastLine).toMatch(/^1 passed, 0 failed, \d+ skipped$/);
    const others = await outcome(testCommand(['--only', 'unit,db-sqlite', ...rest]));
    expect(others.lastLine).toBe('0 passed, 0 failed');
  });

  it('refuses an unknown project name', async () => {
    const { code, complaints } = await outcome(testCommand(['--only', 'nonsense']));
    expect(code).toBe(1);
    expect(complaints).toContain('--only needs names of test projects: unit, spec-sqlite, spec-mariadb,');
  });
});
