import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';

import { eventually } from './eventually';

export interface ChildCommand {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Directory that is removed if the test process dies before it stops the child. */
  directory?: string;
  /** Shell command that ends what survives a SIGKILL of the child, for example a container. */
  alsoEnd?: string;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/**
 * How often, and how long each time, to wait for the last output of a child that has ended. Between two waits this
 * process reads what is in the pipes, so a pause of the machine costs no line.
 */
const LAST_LINES = { waits: 50, ms: 100 };

/**
 * Cleans up when its standard input closes, which happens when the test process dies for any reason. An exit handler is
 * not possible: jest gives tests no exit event, and SIGKILL runs no handler.
 */
const WATCHER = `
trap '' INT TERM HUP
read -r _
kill -KILL "$1" 2>/dev/null
[ -z "$3" ] || eval "$3"
[ -z "$2" ] || rm -rf "$2" || { sleep 1; rm -rf "$2"; }
`;

/** A child process that ends with the test process, even if the test process is killed. */
export class GuardedChild {
  readonly lines: string[] = [];
  readonly exited: Promise<Exit>;
  private readonly listeners = new Set<() => void>();
  private exit: Exit | undefined;

  private constructor(
    private readonly child: ChildProcess,
    watcher: ChildProcess,
    outputs: Interface[],
  ) {
    for (const output of outputs) {
      output.on('line', (line) => {
        this.lines.push(line);
        this.listeners.forEach((listener) => listener());
      });
    }
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        const exit = (this.exit = { code, signal });
        watcher.kill('SIGKILL');
        // The last lines arrive before `close`. That event never comes while a grandchild keeps the output open.
        let waits = 0;
        const timer = setInterval(() => {
          if (++waits < LAST_LINES.waits) return;
          clearInterval(timer);
          child.stdout?.destroy();
          child.stderr?.destroy();
          resolve(exit);
        }, LAST_LINES.ms);
        child.once('close', () => {
          clearInterval(timer);
          resolve(exit);
        });
      });
    });
  }

  static async start(command: ChildCommand): Promise<GuardedChild> {
    const child = spawn(command.command, command.args, {
      env: command.env ?? process.env,
      cwd: command.cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // When the program cannot be run, `spawn` leaves `pid` unset and emits an error event.
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
    const watcher = spawn(
      '/bin/sh',
      ['-c', WATCHER, 'watcher', String(child.pid), command.directory ?? '', command.alsoEnd ?? ''],
      { stdio: ['pipe', 'ignore', 'ignore'] },
    );
    return new GuardedChild(child, watcher, [
      createInterface({ input: child.stdout }),
      createInterface({ input: child.stderr }),
    ]);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get hasExited(): boolean {
    return this.exit !== undefined;
  }

  /** All output of the child so far, standard output and standard error in the order of their arrival. */
  get output(): string {
    return this.lines.join('\n');
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.hasExited) this.child.kill(signal);
  }

  /** Sends a signal, and calls `force` (default: SIGKILL) if the child has not ended after `timeoutMs`. */
  async end(signal: NodeJS.Signals, timeoutMs = 60_000, force = () => this.signal('SIGKILL')): Promise<Exit> {
    this.signal(signal);
    const timer = setTimeout(force, timeoutMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Waits until `answers` no longer throws. Fails at once, with the output of the child, if the child ends first. */
  async becomeReady(what: string, answers: () => Promise<unknown>, timeout?: number): Promise<void> {
    const attempt = async () => this.hasExited || answers().then(() => true);
    await eventually(attempt, { what: `${what} answers`, timeout }).catch((error: unknown) => {
      throw new Error(`${what} did not start:\n${this.output}`, { cause: error });
    });
    if (this.hasExited) throw new Error(`${what} ended at its start:\n${this.output}`);
  }

  /** Resolves with the first matching line, which may be printed already. Fails when the child ends without it. */
  async line(pattern: RegExp, timeout = 120_000): Promise<string> {
    return new Promise((resolve, reject) => {
      const found = () => this.lines.find((line) => pattern.test(line));
      const settle = (action: () => void) => {
        clearTimeout(timer);
        this.listeners.delete(look);
        action();
      };
      const look = () => {
        const line = found();
        if (line !== undefined) settle(() => resolve(line));
      };
      const timer = setTimeout(
        () => settle(() => reject(new Error(`no line ${pattern} within ${timeout} ms in:\n${this.output}`))),
        timeout,
      );
      this.listeners.add(look);
      void this.exited.then(() =>
        settle(() => {
          const line = found();
          if (line === undefined) reject(new Error(`ended without a line ${pattern}:\n${this.output}`));
          else resolve(line);
        }),
      );
      look();
    });
  }
}
