import { createServer, type Server, type Socket } from 'node:net';
import { listen, urlOf } from './loopback';

export interface Reply {
  readonly bytes: Buffer;
  /** `keep` leaves the connection open, so that a client which wants more bytes waits until its time limit. */
  readonly then: 'keep' | 'end' | 'reset';
}

/** A server on the loopback interface that answers each HTTP request with the bytes of the test. */
export class HostileServer {
  reply: () => Reply = () => ({ bytes: Buffer.alloc(0), then: 'end' });
  open = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => this.serve(socket));

  async listen(): Promise<void> {
    await listen(this.server);
  }

  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    await new Promise((done) => this.server.close(done));
  }

  get url(): string {
    return `${urlOf(this.server)}/`;
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    this.open += 1;
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.open -= 1;
    });
    // The client may be gone already.
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      received = '';
      const { bytes, then } = this.reply();
      socket.write(bytes, () => {
        if (then === 'end') socket.end();
        if (then === 'reset') socket.resetAndDestroy();
      });
    });
  }
}

function isWhole(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  if (end === -1) return false;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(request.slice(0, end))?.[1] ?? 0);
  return request.length >= end + 4 + length;
}
