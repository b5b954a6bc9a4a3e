import { readFile } from 'node:fs/promises';

import { GuardedChild } from './guarded-child';
import { removeDirectory } from './private-directory';
import type { ServerHost } from './server-host';
import type { ProgramName } from './server-programs.mjs';

export interface ServerCommand {
  program: ProgramName;
  args: string[];
  host: ServerHost;
  /** The server's private directory, removed by `stop`. */
  directory: string;
  /** Throws as long as the server does not answer. */
  ready: () => Promise<unknown>;
  /** File in which it complains, when that is not its output. */
  log?: string;
}

const PATIENCE_MS = 10_000;

/** One server program with its private directory, and the ways in which a server can be away: ended, killed, silent. */
export class ServerProcess {
  private suspended = false;
  private stopped = false;

  private constructor(
    private readonly command: ServerCommand,
    private child: GuardedChild,
  ) {}

  static async start(command: ServerCommand): Promise<ServerProcess> {
    const server = new ServerProcess(command, await ServerProcess.launch(command));
    try {
      await server.becomeReady();
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  }

  get pid(): number {
    return this.child.pid;
  }

  /** What the server printed since its last start. */
  get lines(): readonly string[] {
    return this.child.lines;
  }

  /** Keeps every connection open and answers nothing: the network's black hole. */
  async suspend(): Promise<void> {
    await this.command.host.signal('SIGSTOP', this.child.pid);
    this.suspended = true;
  }

  async resume(): Promise<void> {
    await this.command.host.signal('SIGCONT', this.child.pid);
    this.suspended = false;
  }

  /** Ends the server without a goodbye; its data stay for `restart`. */
  async kill(): Promise<void> {
    if (this.child.hasExited) return;
    await this.command.host.signal('SIGKILL', this.child.pid);
    await this.child.exited;
    this.suspended = false;
  }

  /** Starts it again on the same ports and data, whether it was running or not. */
  async restart(): Promise<void> {
    await this.end();
    this.child = await ServerProcess.launch(this.command);
    await this.becomeReady();
  }

  /** Ends it and removes its private directory. A second call does nothing. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    await this.end();
    await removeDirectory(this.command.directory);
  }

  private async end(): Promise<void> {
    if (this.suspended && !this.child.hasExited) await this.resume();
    await this.child.end('SIGTERM', PATIENCE_MS, () => void this.kill());
  }

  private async becomeReady(): Promise<void> {
    const { program, ready, log } = this.command;
    try {
      await this.child.becomeReady(program, ready);
    } catch (error) {
      if (log === undefined) throw error;
      throw new Error(await readFile(log, 'utf8').catch(() => 'no log'), { cause: error });
    }
  }

  private static async launch({ program, args, host, directory }: ServerCommand): Promise<GuardedChild> {
    return GuardedChild.start({ ...host.serve(program, args), cwd: directory, directory });
  }
}
