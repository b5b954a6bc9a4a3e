import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What the process sends to the database, or what the database answers. */
type Direction = 'sent' | 'answered';

/** A place in the traffic of a process with its database. */
export interface KillPoint {
  readonly direction: Direction;
  /** Counts the packets of this direction from now on. The first one is 1. */
  readonly packet: number;
  /** Whether this packet still reaches the other side. */
  readonly delivered: boolean;
  /** Counts only packets with this text. */
  readonly containing?: string;
}

/** A TCP proxy between one process and MariaDB. It calls back at a place in the traffic, to kill the process there. */
export class KillProxy {
  /** Packets since the start. */
  readonly packets: Record<Direction, number> = { sent: 0, answered: 0 };
  private readonly sockets = new Set<Socket>();
  private readonly upstreams = new Set<Socket>();
  private armed: { point: KillPoint; kill: () => void; seen: number } | undefined;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(targetPort: number): Promise<KillProxy> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new KillProxy(server, (server.address() as AddressInfo).port);
    server.on('connection', (client) => {
      const upstream = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
      client.setNoDelay(true);
      proxy.upstreams.add(upstream);
      upstream.on('close', () => proxy.upstreams.delete(upstream));
      proxy.relay(client, upstream, 'sent');
      proxy.relay(upstream, client, 'answered');
    });
    return proxy;
  }

  /** Calls `kill` once, at the given place. */
  arm(point: KillPoint, kill: () => void): void {
    this.armed = { point, kill, seen: 0 };
  }

  /**
   * Whether the database has closed every connection of the process. It has then executed every statement that it
   * received, and none of them commits later.
   */
  get drained(): boolean {
    return this.upstreams.size === 0;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  private relay(from: Socket, to: Socket, direction: Direction): void {
    this.sockets.add(from);
    let cut = false;
    from.on('data', (chunk: Buffer) => {
      // Nothing follows a lost packet on its connection: the process was killed before it could send or read more.
      cut ||= !this.passes(chunk, direction);
      if (!cut && to.writable) to.write(chunk);
    });
    from.on('end', () => to.end());
    from.on('error', () => undefined);
    from.on('close', (failed: boolean) => {
      this.sockets.delete(from);
      // The statements that were sent before a reset are still executed: the database reads them, and then the end.
      if (failed) to.end();
    });
  }

  /** A prepared statement, a query and a result each take one chunk, except for large ones. */
  private passes(chunk: Buffer, direction: Direction): boolean {
    const { armed } = this;
    this.packets[direction] += 1;
    if (armed?.point.direction !== direction || !chunk.includes(armed.point.containing ?? '')) return true;
    if (++armed.seen !== armed.point.packet) return true;
    this.armed = undefined;
    armed.kill();
    return armed.point.delivered;
  }
}
