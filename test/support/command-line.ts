import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Ended, runProgram } from './run-program';

const program = 'dist/src/cli.js';

/** Milliseconds until a command counts as one that never ends. Another one of the same process cannot begin before. */
const patience = 300_000;

/** Commands that one process runs. Packages remember a little of each command. */
const perHost = 50;

interface Surroundings {
  /** The whole environment, except for PATH. */
  env: Record<string, string | undefined>;
  cwd: string;
  input?: string;
}

/**
 * Runs commands of the built command line, most of them one after the other in one process (command-host.cjs). A process
 * for each of them spends most of its time on loading four megabytes of code. What only a process shows, such as its exit code
 * and its pipes, shows in the commands that still run as one: the first of each kind, and each that reads standard input.
 */
export class CommandLine {
  private readonly seen = new Set<string>();
  private host: ChildProcess | undefined;
  private left = 0;
  private last: Promise<unknown> = Promise.resolve();
  private printed = '';

  /**
   * @param kind the words that make a kind: 2 for each of `user create` and `user show`, 1 for `user`, 0 for no process at all
   * @param nodeOptions of the one process. NODE_OPTIONS of a command has no effect there
   */
  constructor(
    private readonly kind: 0 | 1 | 2,
    private readonly nodeOptions = '',
  ) {}

  /** Runs a command, and waits for its end. Commands that are started at once run one after the other. */
  run(args: readonly string[], surroundings: Surroundings): Promise<Ended> {
    if (surroundings.input !== undefined || args.includes('-') || this.isFirst(this.kindOf(args))) {
      return runProgram(program, args, surroundings);
    }
    const ended = this.last.then(() => this.inHost(args, surroundings));
    this.last = ended.catch(() => undefined);
    return ended;
  }

  /** Fails when a command has printed something past its standard output and standard error. */
  async stop(): Promise<void> {
    const { host } = this;
    this.host = undefined;
    if (host?.connected) {
      const closed = once(host, 'close');
      // Its channel has to be closed from the other side: after `disconnect` on this side `close` never comes.
      host.send('stop');
      await closed;
    }
    const { printed } = this;
    this.printed = '';
    expect(printed).toBe('');
  }

  /** The first words, without options and their values. */
  private kindOf(args: readonly string[]): string {
    const words = args[0] === '--actor' ? args.slice(2) : args;
    const option = words.findIndex((word) => word.startsWith('-'));
    return words.slice(0, option < 0 ? this.kind : Math.min(this.kind, option)).join(' ');
  }

  private isFirst(kind: string): boolean {
    if (this.kind === 0 || this.seen.has(kind)) return false;
    this.seen.add(kind);
    return true;
  }

  private async inHost(args: readonly string[], { env, cwd }: Surroundings): Promise<Ended> {
    if (this.left === 0 || !this.host?.connected) await this.replaceHost();
    this.left--;
    const host = this.host!;
    const ended = new Promise<Ended & { fresh: number }>((done, failed) => {
      const timer = setTimeout(() => host.kill('SIGKILL'), patience);
      const gone = (code: number | null, signal: string | null) => {
        clearTimeout(timer);
        failed(new Error(`"${args.join(' ')}" did not end, its process did (${signal ?? code}): ${this.printed}`));
      };
      host.once('close', gone);
      host.once('message', (message) => {
        clearTimeout(timer);
        host.off('close', gone);
        done(message as Ended & { fresh: number });
      });
    });
    host.send({ args, env: { PATH: process.env.PATH, ...env }, cwd });
    const { fresh, ...result } = await ended;
    // cli.js, and at least one part of the bundle that only the command line has.
    expect(fresh).toBeGreaterThan(1);
    return result;
  }

  private async replaceHost(): Promise<void> {
    await this.stop();
    const host = fork(join(__dirname, 'command-host.cjs'), {
      execArgv: [],
      env: { ...process.env, ...(this.nodeOptions && { NODE_OPTIONS: this.nodeOptions }) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [host.stdout!, host.stderr!]) stream.on('data', (data) => (this.printed += `${data}`));
    this.host = host;
    this.left = perHost;
  }
}
