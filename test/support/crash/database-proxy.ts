import { connect, createServer, type Socket } from 'node:net';
import { listen } from '../loopback';

/** Reads the data of one connection. @returns what goes on to the other side */
export interface Passage {
  asked(data: Buffer): Buffer;
  answered(data: Buffer): Buffer;
}

/** A TCP proxy between one process and MariaDB, which decides what passes. */
export abstract class DatabaseProxy {
  port = 0;
  private readonly server = createServer({ allowHalfOpen: true });
  private readonly sockets = new Set<Socket>();
  private readonly upstreams = new Set<Socket>();

  /** Called for each connection. */
  protected abstract passage(): Passage;

  async start(targetPort: number): Promise<this> {
    this.server.on('connection', (client) => {
      const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      client.setNoDelay(true);
      this.upstreams.add(upstream);
      upstream.on('close', () => this.upstreams.delete(upstream));
      const passage = this.passage();
      this.relay(client, upstream, (data) => passage.asked(data));
      this.relay(upstream, client, (data) => passage.answered(data));
    });
    this.port = await listen(this.server);
    return this;
  }

  /**
   * Whether the database has closed every connection of the process. It has then executed every statement that it
   * received, and none of them commits later.
   */
  get drained(): boolean {
    return this.upstreams.size === 0;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  private relay(from: Socket, to: Socket, passing: (data: Buffer) => Buffer): void {
    this.sockets.add(from);
    from.on('data', (data: Buffer) => {
      const passed = passing(data);
      if (passed.length > 0 && to.writable) to.write(passed);
    });
    from.on('end', () => to.end());
    from.on('error', () => undefined);
    from.on('close', (failed: boolean) => {
      this.sockets.delete(from);
      // The statements that were sent before a reset are still executed: the database reads them, and then the end.
      if (failed) to.end();
    });
  }
}
