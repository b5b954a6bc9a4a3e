import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';

import { freePort } from './free-port';

type Mode = 'forward' | 'blackhole' | 'reset';

/** Reads the data of one connection, and decides which answers of the server are lost. */
export interface ConnectionReader {
  /** Gets the data of the client before the server does. @returns true when the answer to it must not arrive */
  asked(data: Buffer): boolean;
  answered(data: Buffer): void;
}

/**
 * A TCP proxy that simulates a bad network in front of a server: slow, silent, resetting, refusing, without the answer to
 * a certain request, or with one byte in each packet.
 */
export class TcpProxy {
  /** Number of connections accepted since `start`. */
  connectionCount = 0;
  /** Number of answers that were lost. */
  lostAnswers = 0;
  private readonly sockets = new Set<Socket>();
  private mode: Mode = 'forward';
  private delay = 0;
  private bytewise = false;
  private request: string | undefined;
  private server: Server | undefined;

  private constructor(
    readonly port: number,
    private readonly target: { host: string; port: number },
    private readonly reader: () => ConnectionReader,
  ) {}

  /**
   * Starts a proxy that forwards to a port of 127.0.0.1.
   * @param reader is called for each connection. Default: `loseAnswers` decides which answers are lost
   */
  static async start(targetPort: number, reader?: () => ConnectionReader): Promise<TcpProxy> {
    const byText = { asked: (data: Buffer) => proxy.isLost(data), answered: () => undefined };
    const proxy: TcpProxy = new TcpProxy(
      await freePort(),
      { host: '127.0.0.1', port: targetPort },
      reader ?? (() => byText),
    );
    await proxy.listen();
    return proxy;
  }

  /** Starts a proxy in front of the server of a URL. `url` leads to the proxy. */
  static async before(address: string, reader?: () => ConnectionReader): Promise<{ proxy: TcpProxy; url: string }> {
    const url = new URL(address);
    const proxy = await TcpProxy.start(Number(url.port), reader);
    url.port = `${proxy.port}`;
    return { proxy, url: url.toString() };
  }

  /** Forwards again without delay, also the connections that `blackhole` has held. */
  async forward(): Promise<void> {
    this.mode = 'forward';
    this.delay = 0;
    this.bytewise = false;
    this.request = undefined;
    this.sockets.forEach((socket) => socket.resume());
    await this.listen();
  }

  /** Delays all data from now on, in each direction. */
  setLatency(milliseconds: number): void {
    this.delay = milliseconds;
  }

  /** From now on each packet contains one byte, in each direction. */
  oneByteAtATime(): void {
    this.bytewise = true;
  }

  /**
   * Forwards each request that contains the text, waits for the first byte of its answer, and resets the connection in
   * its place: the server has done the work, and the client never learns it.
   * @param request with an empty text every answer is lost
   */
  loseAnswers(request = ''): void {
    this.request = request;
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

  private isLost(data: Buffer): boolean {
    return this.request !== undefined && data.includes(this.request);
  }

  private take(client: Socket): void {
    this.connectionCount++;
    if (this.mode === 'reset') {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ ...this.target, allowHalfOpen: true });
    const reader = this.reader();
    let lost = false;
    this.relay(client, upstream, (data) => {
      lost ||= reader.asked(data);
      return true;
    });
    this.relay(upstream, client, (data) => {
      if (!lost) reader.answered(data);
      else if (!client.destroyed) {
        this.lostAnswers++;
        client.resetAndDestroy();
        upstream.destroy();
      }
      return !lost;
    });
    if (this.mode === 'blackhole') this.blackhole();
  }

  /** @param passes reads data, and decides whether it is forwarded */
  private relay(from: Socket, to: Socket, passes: (data: Buffer) => boolean): void {
    const outlet = new Outlet(to.setNoDelay(), () => this.bytewise);
    const later = this.inOrder();
    this.sockets.add(from);
    from.on('data', (data: Buffer) => {
      if (passes(data)) later(() => outlet.write(data));
    });
    from.on('end', () => later(() => outlet.end()));
    from.on('error', () => undefined);
    from.on('close', (failed: boolean) => {
      this.sockets.delete(from);
      // `end` handles a connection that is half-closed normally. A connection that fails destroys its counterpart.
      if (failed) to.destroy();
    });
  }

  /** @returns delays actions. They stay in order, also when the delay ends meanwhile. */
  private inOrder(): (action: () => void) => void {
    let last = Promise.resolve();
    let waiting = 0;
    return (action) => {
      if (this.delay === 0 && waiting === 0) return action();
      waiting++;
      const passed = pause(this.delay);
      last = last.then(async () => {
        await passed;
        waiting--;
        action();
      });
    };
  }
}

/** Writes to a socket in order: each piece of data at once, or byte by byte. */
class Outlet {
  private readonly waiting: Buffer[] = [];
  private busy = false;
  private ended = false;

  constructor(
    private readonly socket: Socket,
    private readonly bytewise: () => boolean,
  ) {}

  write(data: Buffer): void {
    this.waiting.push(data);
    if (!this.busy) void this.drain();
  }

  end(): void {
    this.ended = true;
    if (!this.busy) this.socket.end();
  }

  private async drain(): Promise<void> {
    this.busy = true;
    for (let data = this.waiting.shift(); data !== undefined; data = this.waiting.shift()) {
      if (this.bytewise()) await this.trickle(data);
      else if (this.socket.writable) this.socket.write(data);
    }
    this.busy = false;
    if (this.ended) this.socket.end();
  }

  /** The pause lets a client in the same process read each byte alone. */
  private async trickle(data: Buffer): Promise<void> {
    for (let at = 0; at < data.length && this.socket.writable; at++) {
      this.socket.write(data.subarray(at, at + 1));
      await setImmediate();
    }
  }
}
