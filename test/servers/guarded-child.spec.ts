import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { GuardedChild } from '../support/servers/guarded-child';

/** A process that starts a guarded child, prints when it is up, and keeps running. Compiles TypeScript as jest does. */
const STARTER = `
const { transformFileSync } = require('@swc/core');
const options = { swcrc: false, jsc: { parser: { syntax: 'typescript' } }, module: { type: 'commonjs' } };
require.extensions['.ts'] = (module, file) => module._compile(transformFileSync(file, options).code, file);
const { GuardedChild } = require('./test/support/servers/guarded-child.ts');
const [port, directory, alsoEnd] = process.argv.slice(1);
const server = "require('node:net').createServer().listen(" + port + ", '127.0.0.1', () => console.log('up'))";
GuardedChild.start({ command: process.execPath, args: ['-e', server], directory, alsoEnd })
  .then((child) => child.line(/up/))
  .then(console.log);
`;

describe('GuardedChild', () => {
  /** Checks the port of the child and not its pid, because a dead process may stay in the process table for a while. */
  async function isRefused(port: number): Promise<boolean> {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return false;
    } catch {
      return true;
    } finally {
      socket.destroy();
    }
  }

  it.each([
    ['is killed', (pid: number) => process.kill(pid, 'SIGKILL')],
    ['is interrupted at a terminal with its process group', (pid: number) => process.kill(-pid, 'SIGINT')],
  ])('ends, and its directory is removed, when the process that started it %s', async (_title, end) => {
    const directory = await mkdtemp(join(tmpdir(), 'orphan-'));
    const port = await freePort();
    const trace = `${directory}.ended`;
    const starter = spawn(process.execPath, ['-e', STARTER, `${port}`, directory, `touch '${trace}'`], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(starter.stdout, 'data');
    expect(await isRefused(port)).toBe(false);

    end(starter.pid as number);
    const gone = async () => !existsSync(directory) && existsSync(trace) && isRefused(port);
    await eventually(gone, { what: 'child and directory are gone' });
    await rm(trace);
  });

  it('keeps both outputs as lines and reports the exit code of the child', async () => {
    const child = await GuardedChild.start({ command: 'sh', args: ['-c', 'echo one; echo two >&2; exit 4'] });
    expect(await child.exited).toEqual({ code: 4, signal: null });
    expect([...child.lines].sort()).toEqual(['one', 'two']);
    await expect(child.line(/three/)).rejects.toThrow('ended without');
  });

  it('rejects with ENOENT when the program does not exist', async () => {
    await expect(GuardedChild.start({ command: '/no/such/program', args: [] })).rejects.toMatchObject({
      code: 'ENOENT',
    });
  });

  it('kills a child that ignores SIGTERM', async () => {
    const child = await GuardedChild.start({
      command: 'sh',
      args: ['-c', `trap '' TERM; echo up; exec sleep 60`],
    });
    await child.line(/up/);
    expect(await child.end('SIGTERM', 100)).toEqual({ code: null, signal: 'SIGKILL' });
  });
});
