import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

import { freePort } from './free-port';

type Mode = 'forward' | 'blackhole' | 'reset';

/** A TCP proxy that simulates a bad network in front of a server: slow, silent, resetting or refusing. */
export class TcpProxy {
  /** Number of connections accepted since `start`. */
  connectionCount = 0;
  private readonly sockets = new Set<Socket>();
  private mode: Mode = 'forward';
  private delay = 0;
  private server: Server | undefined;

  private constructor(
    readonly port: number,
    private readonly target: { host: string; port: number },
  ) {}

  /** Starts a proxy that forwards to a port of 127.0.0.1. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(await freePort(), { host: '127.0.0.1', port: targetPort });
    await proxy.listen();
    return proxy;
  }

  /** Forwards again without delay, also the connections that `blackhole` has held. */
  async forward(): Promise<void> {
    this.mode = 'forward';
    this.delay = 0;
    this.sockets.forEach((socket) => socket.resume());
    await this.listen();
  }

  /** Delays all data from now on, in each direction. */
  setLatency(milliseconds: number): void {
    this.delay = milliseconds;
  }

  /** Accepts connections and keeps open ones, but forwards no data. */
  blackhole(): void {
    this.mode = 'blackhole';
    this.sockets.forEach((socket) => socket.pause());
  }

  /** Resets (RST) all open connections, and each new one as soon as it is accepted. */
  reset(): void {
    this.mode = 'reset';
    this.sockets.forEach((socket) => socket.resetAndDestroy());
  }

  /** Closes the port and all open connections: new connections are refused. */
  async refuse(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    this.server = undefined;
    const closed = new Promise((resolve) => server.close(resolve));
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  async stop(): Promise<void> {
    await this.refuse();
  }

  private async listen(): Promise<void> {
    if (this.server !== undefined) return;
    const server = createServer({ allowHalfOpen: true }, (client) => this.take(client));
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
    this.server = server;
  }

  private take(client: Socket): void {
    this.connectionCount++;
    if (this.mode === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...this.target, allowHalfOpen: true });
    this.relay(client, upstream);
    this.relay(upstream, client);
    if (this.mode === 'blackhole') this.blackhole();
  }

  private relay(from: Socket, to: Socket): void {
    this.sockets.add(from);
    from.on('data', (chunk: Buffer) => this.later(() => to.writable && to.write(chunk)));
    from.on('end', () => this.later(() => to.end()));
    from.on('error', () => undefined);
    from.on('close', (failed: boolean) => {
      this.sockets.delete(from);
      // `end` handles a connection that is half-closed normally. A connection that fails destroys its counterpart.
      if (failed) to.destroy();
    });
  }

  /** Data stays in order, because timers with the same delay run in the order of their creation. */
  private later(action: () => void): void {
    if (this.delay === 0) action();
    else setTimeout(action, this.delay);
  }
}
