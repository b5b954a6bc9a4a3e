import { readdir, readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';

import { eventually } from './eventually';
import { runCommand } from './run-command';
import type { HostCommand, ServerHost } from './server-host';
import { findProgram, type ProgramName } from './server-programs.mjs';

/** Runs servers as child processes on the loopback interface. */
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

/** Waits until all threads have stopped. After SIGSTOP a thread on another core may still answer a request. */
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
  // The format is "pid (name) state ...". The name may contain any character, including parentheses.
  return lines.map((line) => line.charAt(line.lastIndexOf(')') + 2));
}
