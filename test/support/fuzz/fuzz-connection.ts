import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { AnswerReader, type ReadAnswer } from './answer-reader';
import type { Framing } from './framing';

/** Milliseconds without a byte after which a request of unclear framing gets its end. Nothing is asserted by it. */
const quietMs = 40;
/** Only a service that hangs meets it. */
const longestMs = 120_000;

/** Requests in one piece. The last one may have a framing that is not `whole`. */
export interface Batch {
  readonly bytes: Buffer;
  /** For each request whose answer can be told: whether it is HEAD. */
  readonly heads: readonly boolean[];
  /** The number of requests in front that have to be answered. */
  readonly whole: number;
  readonly tail?: Exclude<Framing, 'whole'>;
}

export interface Exchange {
  readonly answers: readonly ReadAnswer[];
  /** The service has closed the connection. */
  readonly closed: boolean;
  /** The connection ended within an answer. */
  readonly cut: boolean;
  readonly problem?: string;
  /** Milliseconds until the last byte. */
  readonly ms: number;
}

interface Listener {
  data(chunk: Buffer): void;
  close(): void;
}

/** A connection that is opened again when the service has closed it. */
export class FuzzConnection {
  private socket: Socket | undefined;
  private listener: Listener | undefined;
  private stray = 0;

  constructor(private readonly port: number) {}

  async exchange({ bytes, heads, whole, tail }: Batch): Promise<Exchange> {
    const socket = await this.open().catch((error: NodeJS.ErrnoException) => error);
    if (socket instanceof Error)
      return { answers: [], closed: true, cut: false, ms: 0, problem: `no connection: ${socket.code}` };
    const reader = new AnswerReader((n) => heads[n]);
    const start = performance.now();
    let last = start;
    let closed = false;
    let problem = this.stray === 0 ? undefined : `${this.stray} bytes that answer no request`;
    this.stray = 0;
    await new Promise<void>((done) => {
      let quiet: NodeJS.Timeout | undefined;
      const limit = setTimeout(() => finish(`no end within ${longestMs} ms`), longestMs);
      const finish = (failure?: string) => {
        problem ??= failure ?? reader.problem;
        clearTimeout(limit);
        clearTimeout(quiet);
        this.listener = undefined;
        if (problem !== undefined) socket.destroy();
        done();
      };
      const look = () => {
        clearTimeout(quiet);
        if (reader.problem !== undefined) return finish();
        const isLast = reader.answers.at(-1)?.headers.connection === 'close';
        if (isLast || reader.answers.length < whole) return;
        if (tail === undefined) return finish();
        // The service drops answers that it has not sent when the client ends its side, so this comes after them.
        if (tail === 'short') socket.end();
        else quiet = setTimeout(() => socket.end(), quietMs);
      };
      this.listener = {
        data: (chunk) => {
          last = performance.now();
          reader.push(chunk);
          look();
        },
        close: () => {
          last = performance.now();
          closed = true;
          reader.end();
          finish();
        },
      };
      socket.write(bytes);
      look();
    });
    const ms = last - start;
    return { answers: reader.answers, closed, cut: reader.isCut, ms, ...(problem !== undefined && { problem }) };
  }

  close(): void {
    this.socket?.destroy();
  }

  private async open(): Promise<Socket> {
    if (this.socket !== undefined && this.socket.readable && this.socket.writable) return this.socket;
    this.socket?.destroy();
    const socket = connect({ port: this.port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    socket.on('data', (chunk: Buffer) => {
      if (this.listener !== undefined) this.listener.data(chunk);
      else this.stray += chunk.length;
    });
    // A reset counts as an end. Without a listener the error would end the process.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (this.socket === socket) this.listener?.close();
    });
    return (this.socket = socket);
  }
}
