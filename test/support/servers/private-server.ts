import type { ServerProcess } from './server-process';

/** A server that a test has started, and the failures that the test can cause. */
export abstract class PrivateServer {
  protected constructor(protected readonly server: ServerProcess) {}

  get pid(): number {
    return this.server.pid;
  }

  /** Stops answering but keeps every connection open, like a network that drops all packets. */
  async suspend(): Promise<void> {
    return this.server.suspend();
  }

  async resume(): Promise<void> {
    return this.server.resume();
  }

  /** Kills the server like a crash (SIGKILL). `restart` starts it again with the same data. */
  async kill(): Promise<void> {
    return this.server.kill();
  }

  /** Starts the server again with the same ports and data. A running server is stopped first. */
  async restart(): Promise<void> {
    return this.server.restart();
  }

  /** Stops the server and removes its private directory. A second call does nothing. */
  async stop(): Promise<void> {
    return this.server.stop();
  }
}
