import { readdir, readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { eventually } from './eventually';
import { runCommand } from './run-command';
import type { HostCommand, ServerHost } from './server-host';
import { findProgram, type ProgramName } from './server-programs.mjs';

/** Servers as plain child processes on the loopback interface. */
export class LocalHost implements ServerHost {
  readonly listenAddress = '127.0.0.1';
  readonly loopbackAddress = '127.0.0.1';

  serve(program: ProgramName, args: string[]): HostCommand {
    return { command: findProgram(program) ?? program, args };
  }

  async prepare(program: string, args: string[]): Promise<string> {
    return runCommand(program, args);
  }

  async beside(program: string, args: string[], input?: string): Promise<string> {
    return runCommand(program, args, input);
  }

  async signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', pid: number): Promise<void> {
    process.kill(pid, signal);
    if (signal === 'SIGSTOP') await stopped(pid);
  }
}

/** A signal only asks: a thread on another core may still answer a question before it stops. */
async function stopped(pid: number): Promise<void> {
  if (platform() !== 'linux') return pause(50);
  await eventually(async () => (await threadStates(pid)).every((state) => state === 'T'), {
    what: `process ${pid} stops`,
    interval: 1,
  });
}

async function threadStates(pid: number): Promise<string[]> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const lines = await Promise.all(tasks.map((task) => readFile(`/proc/${pid}/task/${task}/stat`, 'utf8')));
  // "pid (name) state ...", and a name may hold anything, parentheses included.
  return lines.map((line) => line.charAt(line.lastIndexOf(')') + 2));
}
