import { readFile } from 'node:fs/promises';

import { GuardedChild } from './guarded-child';
import { removeDirectory } from './private-directory';
import type { ServerHost } from './server-host';
import type { ProgramName } from './server-programs.mjs';

export interface ServerCommand {
  program: ProgramName;
  args: string[];
  host: ServerHost;
  /** Private directory of the server. `stop` removes it. */
  directory: string;
  /** Throws until the server answers. */
  ready: () => Promise<unknown>;
  /** Log file, if the server does not log to its output. */
  log?: string;
}

const PATIENCE_MS = 60_000;
/** Only a server that hangs may meet it. */
const READY_MS = 180_000;

/** A server program with its private directory. Tests can stop it, kill it, or make it silent. */
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

  /** Output of the server since its last start. */
  get lines(): readonly string[] {
    return this.child.lines;
  }

  /** Stops answering but keeps every connection open, like a network that drops all packets. */
  async suspend(): Promise<void> {
    await this.command.host.signal('SIGSTOP', this.child.pid);
    this.suspended = true;
  }

  async resume(): Promise<void> {
    await this.command.host.signal('SIGCONT', this.child.pid);
    this.suspended = false;
  }

  /** Kills the server like a crash (SIGKILL). `restart` starts it again with the same data. */
  async kill(): Promise<void> {
    if (this.child.hasExited) return;
    await this.command.host.signal('SIGKILL', this.child.pid);
    await this.child.exited;
    this.suspended = false;
  }

  /** Starts the server again with the same ports and data. A running server is stopped first. */
  async restart(): Promise<void> {
    await this.end();
    this.child = await ServerProcess.launch(this.command);
    await this.becomeReady();
  }

  /** Stops the server and removes its private directory. A second call does nothing. */
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
      await this.child.becomeReady(program, ready, READY_MS);
    } catch (error) {
      if (log === undefined) throw error;
      throw new Error(await readFile(log, 'utf8').catch(() => 'no log'), { cause: error });
    }
  }

  private static async launch({ program, args, host, directory }: ServerCommand): Promise<GuardedChild> {
    return GuardedChild.start({ ...host.serve(program, args), cwd: directory, directory });
  }
}
