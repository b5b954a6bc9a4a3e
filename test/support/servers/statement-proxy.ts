import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

const comQuery = 3;
const headerLength = 4;

/** A TCP proxy in front of MariaDB that reads the text of each statement before the server gets it. */
export class StatementProxy {
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param seen called for each statement that is not prepared, after it was forwarded to the server */
  static async start(targetPort: number, seen: (statement: string) => void): Promise<StatementProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new StatementProxy(server, (server.address() as AddressInfo).port);
    server.on('connection', (client) => proxy.relay(client, connect(targetPort, '127.0.0.1'), seen));
    return proxy;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.sockets.forEach((socket) => socket.destroy());
    await closed;
  }

  private relay(client: Socket, upstream: Socket, seen: (statement: string) => void): void {
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
    }
    upstream.pipe(client);
    upstream.on('close', () => client.destroy());
    client.on('end', () => upstream.end());
    client.on('close', () => upstream.end());
    let pending = Buffer.alloc(0);
    client.on('data', (chunk: Buffer) => {
      upstream.write(chunk);
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= headerLength && pending.length >= headerLength + pending.readUIntLE(0, 3)) {
        const end = headerLength + pending.readUIntLE(0, 3);
        // A command is packet 0 of its exchange. The packets of the handshake have higher numbers.
        if (pending[3] === 0 && pending[headerLength] === comQuery) {
          seen(pending.subarray(headerLength + 1, end).toString());
        }
        pending = pending.subarray(end);
      }
    });
  }
}
