import type { ProgramName } from './server-programs.mjs';

export interface HostCommand {
  command: string;
  args: string[];
  /** Shell command that ends what survives a SIGKILL of the started process, for example a container. */
  alsoEnd?: string;
}

/** Where a server runs: on this machine or, if its program is not installed, in a container. */
export interface ServerHost {
  /** The address on which the server listens. Only 127.0.0.1 of this machine reaches it. */
  readonly listenAddress: string;
  /** The address under which the server reaches the loopback ports of this machine. */
  readonly loopbackAddress: string;
  /** The command that runs the server in the foreground. */
  serve(program: ProgramName, args: string[]): HostCommand;
  /** Runs a program and waits for its end, before the server starts. */
  prepare(program: string, args: string[]): Promise<string>;
  /** Runs a program and waits for its end, while the server is running. */
  beside(program: string, args: string[], input?: string): Promise<string>;
  /**
   * Sends a signal to the server.
   * @param pid process that was started with the command of `serve`
   */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', pid: number): Promise<void>;
}
