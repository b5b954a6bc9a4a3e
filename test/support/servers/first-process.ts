import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { eventually } from './eventually';
import { GuardedChild, type Exit } from './guarded-child';

const ROOT = resolve(__dirname, '../../..');

/** `unshare` as root or in a user namespace. Undefined when neither is allowed, as in an unprivileged container. */
const unshare = [['unshare'], ['unshare', '--user', '--map-root-user']].find(canUnshare);

/**
 * A built program as process 1 of a PID namespace, as in a container: the kernel ignores a signal without a listener.
 * When namespaces are not allowed, the program is an ordinary process. A test can still see whether it has a listener:
 * without one, the kernel ends the process, and the exit has a signal instead of a code.
 */
export class FirstProcess {
  private constructor(
    private readonly child: GuardedChild,
    private readonly pid: number,
  ) {}

  static readonly isFirst = unshare !== undefined;

  static async start(
    script: 'dist/src/main.js' | 'dist/src/cli.js',
    args: readonly string[],
    { env, cwd }: { env: Record<string, string>; cwd: string },
  ): Promise<FirstProcess> {
    const program = [process.execPath, resolve(ROOT, script), ...args];
    const [command = '', ...rest] = unshare ? [...unshare, '--pid', '--fork', '--kill-child', ...program] : program;
    const child = await GuardedChild.start({ command, args: rest, env: { PATH: process.env.PATH, ...env }, cwd });
    if (!unshare) return new FirstProcess(child, child.pid);
    const pid = await eventually(() => childOf(child.pid), { what: 'the first process of the namespace' });
    return new FirstProcess(child, pid);
  }

  get lines(): readonly string[] {
    return this.child.lines;
  }

  /** The exit of the program. `unshare` exits with the code or signal of its child. */
  get exited(): Promise<Exit> {
    return this.child.exited;
  }

  line(pattern: RegExp): Promise<string> {
    return this.child.line(pattern);
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.child.hasExited) process.kill(this.pid, signal);
  }

  /** Sends SIGKILL to `unshare`, which ends its child as well. */
  kill(): Promise<Exit> {
    return this.child.end('SIGKILL');
  }
}

function canUnshare([command = '', ...args]: readonly string[]): boolean {
  try {
    // childOf needs /proc/<pid>/task/<tid>/children, which some kernels do not have.
    childOf(process.pid);
    execFileSync(command, [...args, '--pid', '--fork', '--kill-child', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function childOf(pid: number): number | undefined {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return child ? Number(child) : undefined;
}
