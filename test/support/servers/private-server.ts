import type { ServerProcess } from './server-process';

/** What a test can do to any of the servers it started. */
export abstract class PrivateServer {
  protected constructor(protected readonly server: ServerProcess) {}

  get pid(): number {
    return this.server.pid;
  }

  /** Keeps every connection open and answers nothing: the network's black hole. */
  async suspend(): Promise<void> {
    return this.server.suspend();
  }

  async resume(): Promise<void> {
    return this.server.resume();
  }

  /** Ends it without a goodbye; its data stay for `restart`. */
  async kill(): Promise<void> {
    return this.server.kill();
  }

  /** Starts it again on the same ports and data, whether it was running or not. */
  async restart(): Promise<void> {
    return this.server.restart();
  }

  /** Ends it and removes what it left. A second call does nothing. */
  async stop(): Promise<void> {
    return this.server.stop();
  }
}
