import type { ProgramName } from './server-programs.mjs';

export interface HostCommand {
  command: string;
  args: string[];
  /** Shell command that ends what killing the started process alone would leave behind. */
  alsoEnd?: string;
}

/** Where a server runs: on this machine or, when its program is not installed, in a container of the same image each time. */
export interface ServerHost {
  /** What the server listens on, so that 127.0.0.1 of this machine reaches it and nobody outside does. */
  readonly listenAddress: string;
  /** Where the server finds the loopback ports of this machine. */
  readonly loopbackAddress: string;
  /** The command that runs the server in the foreground. */
  serve(program: ProgramName, args: string[]): HostCommand;
  /** Runs a program to its end before the server starts. */
  prepare(program: string, args: string[]): Promise<string>;
  /** Runs a program to its end beside the running server. */
  beside(program: string, args: string[], input?: string): Promise<string>;
  /** Signals the server; `pid` is the process that `serve` became. */
  signal(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL', pid: number): Promise<void>;
}
