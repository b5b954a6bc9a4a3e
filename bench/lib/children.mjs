// Child processes of the bench. Each has its own log file, and none outlives the bench.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/**
 * @param {{ name: string, command?: string, args: string[], env?: Record<string, string>, cwd?: string, log: string }} what
 * `log`: the file for the output of the process
 */
export function start({ name, command = process.execPath, args, env = {}, cwd, log }) {
  const output = openSync(log, 'a');
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
  const child = spawn(command, args, {
    env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), ...env },
    cwd,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  running.add(child);
  const exited = new Promise((resolve) =>
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve(code ?? signal);
    }),
  );
  return {
    name,
    pid: child.pid,
    get alive() {
      return running.has(child);
    },
    tail: () => readFileSync(log, 'utf8').split('\n').slice(-15).join('\n'),
    /** Sends SIGTERM first, so that Node writes its profile, and SIGKILL after `patience` milliseconds. */
    async stop(signal = 'SIGTERM', patience = 10_000) {
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), patience);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Resolves when `probe` returns a truthy value. @throws with the last lines of the log if the child ends or is late */
export async function untilReady(child, probe, { timeout = 60_000, every = 10 } = {}) {
  const deadline = performance.now() + timeout;
  while (child.alive && performance.now() < deadline) {
    const answer = await Promise.resolve(probe()).catch(() => false);
    if (answer) return answer;
    await pause(every);
  }
  throw new Error(`${child.name} did not become ready:\n${child.tail()}`);
}

export async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resident memory of a process in MiB. Undefined on systems without /proc. */
export function residentMiB(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return undefined;
  }
}

/** Processor time that a process has used, in milliseconds. Undefined on systems without /proc. */
export function processorMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}
