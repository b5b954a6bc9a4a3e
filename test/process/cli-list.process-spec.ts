import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runProgram } from '../support/run-program';
import { testSettings } from '../support/settings';

/** The output of so many accounts exceeds the buffer of a pipe, so the program notices when the reader closes it. */
const accounts = 3000;

describe('user list', () => {
  let directory: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cli-list-'));
    env = { ...testSettings, DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}` };
    const file = join(directory, 'people.csv');
    const rows = Array.from({ length: accounts }, (_, n) => `p${n},p${n}@example.com,${n === 7 ? -1 : 1}`);
    await writeFile(file, `login_name,email,status\n${rows.join('\n')}\n`);
    expect(await run(['user', 'import', file, '--json'])).toMatchObject({ code: 0 });
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  const run = (args: string[]) => runProgram('dist/src/cli.js', args, { env, cwd: directory });

  it('prints one array with --json and a line for each account without, over several pages', async () => {
    const listed = JSON.parse((await run(['user', 'list', '--json'])).stdout) as { login_name: string }[];
    expect(new Set(listed.map(({ login_name }) => login_name)).size).toBe(accounts);
    const lines = (await run(['user', 'list'])).stdout.trim().split('\n');
    expect(lines.map((line) => line.split('\t')[1])).toEqual(listed.map(({ login_name }) => login_name));
  });

  it.each([
    [['--limit', '2', '--query', 'p299'], 2],
    [['--query', 'P299'], 11],
    [['--query', 'p7@example'], 1],
    [['--status', '-1'], 1],
    [['--provider', 'ldap'], 0],
    [['--tenant', 'root', '--query', 'p7'], 111],
    [['--locked'], 0],
  ] as [string[], number][])('the options %j filter the list', async (args, count) => {
    expect(JSON.parse((await run(['user', 'list', '--json', ...args])).stdout)).toHaveLength(count);
  });

  it.each([
    ['--limit', '0'],
    ['--limit', 'x'],
    ['--status', '3'],
    ['--provider', 'oauth'],
  ])('the option %s %s is refused with one line', async (...args) => {
    const { code, stdout, stderr } = await run(['user', 'list', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^\S[^\n]*\n$/);
  });

  it.each([[['user', 'list']], [['user', 'list', '--json']], [['config', 'list']], [['--help']]])(
    '%j ends with 0 and without an error when its reader closes the pipe (| head)',
    async (args) => {
      const child = spawn(process.execPath, [resolve('dist/src/cli.js'), ...args], {
        cwd: directory,
        env: { PATH: process.env.PATH, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const problems: string[] = [];
      child.stderr.on('data', (chunk: Buffer) => problems.push(chunk.toString()));
      if (args.includes('user')) await once(child.stdout, 'data');
      child.stdout.destroy();
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(problems.join('')).toBe('');
    },
  );
});
