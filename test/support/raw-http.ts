import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** Names are in lower case. Of repeated headers the last one wins. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A TCP connection on which a test sends bytes that no HTTP client sends, and sees when the server closes it. */
export class RawConnection {
  private readonly chunks: Buffer[] = [];
  /** Resolves when the connection has ended for any reason, with its duration in milliseconds as the client sees it. */
  readonly closed: Promise<number>;

  private constructor(
    private readonly socket: Socket,
    openedAt: number,
  ) {
    socket.on('data', (chunk: Buffer) => this.chunks.push(chunk));
    // A reset counts as an end, which `closed` reports. Without a listener the error would end the test process.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => resolve(performance.now() - openedAt));
    });
  }

  static async open(port: number): Promise<RawConnection> {
    // Read before `connect`: on a busy machine the server may accept a connection long before the client knows.
    const openedAt = performance.now();
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawConnection(socket, openedAt);
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  get received(): string {
    return Buffer.concat(this.chunks).toString('latin1');
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /**
   * Writes a chunk and waits until the kernel can take more or the server has closed the connection.
   * @returns false when the server has closed it
   */
  async push(chunk: Buffer): Promise<boolean> {
    if (!this.isOpen) return false;
    if (!this.socket.write(chunk)) await Promise.race([once(this.socket, 'drain').catch(() => undefined), this.closed]);
    return this.isOpen;
  }

  /** Resolves when the text has arrived or the connection has ended. */
  async receives(text: string): Promise<void> {
    while (this.isOpen && !this.received.includes(text)) await Promise.race([once(this.socket, 'data'), this.closed]);
  }

  /** Resolves when `count` complete answers have arrived or the connection has ended. */
  async answers(count: number): Promise<RawAnswer[]> {
    const timeout = 60_000;
    const deadline = performance.now() + timeout;
    for (;;) {
      const found = parseAnswers(Buffer.concat(this.chunks));
      if (found.length >= count || !this.isOpen) return found;
      const left = Math.ceil(deadline - performance.now());
      if (left <= 0) throw new Error(`${found.length} of ${count} answers within ${timeout} ms`);
      const signal = AbortSignal.timeout(left);
      await Promise.race([once(this.socket, 'data', { signal }).catch(() => undefined), this.closed]);
    }
  }

  /** Ends the sending side of the connection (FIN), and still reads. */
  finish(): void {
    this.socket.end();
  }

  async end(): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }

  /** Ends the connection with a reset (RST). */
  async reset(): Promise<void> {
    this.socket.resetAndDestroy();
    await this.closed;
  }
}

/** Sends the bytes on a new connection and returns the first answer, or undefined if the server closes without one. */
export async function rawRequest(port: number, bytes: string | Buffer): Promise<RawAnswer | undefined> {
  const connection = await RawConnection.open(port);
  connection.send(bytes);
  const [answer] = await connection.answers(1);
  await connection.end();
  return answer;
}

/** Builds a request. `lines` are header lines; a Host header is added if they contain none. */
export function request(method: string, path: string, lines: readonly string[] = [], body = ''): string {
  const host = lines.some((line) => /^host:/i.test(line)) ? [] : ['Host: localhost'];
  return [`${method} ${path} HTTP/1.1`, ...host, ...lines, '', body].join('\r\n');
}

export function jsonRequest(path: string, value: unknown, lines: readonly string[] = []): string {
  const body = JSON.stringify(value);
  const own = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return request('POST', path, [...own, ...lines], body);
}

function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end === -1) return answers;
    const [first = '', ...lines] = bytes.subarray(at, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const status = Number(first.split(' ')[1]);
    const length = status === 204 || status < 200 ? 0 : Number(headers['content-length'] ?? 0);
    if (bytes.length < end + 4 + length) return answers;
    // 100 Continue is not the final answer.
    if (status >= 200) answers.push({ status, headers, body: bytes.subarray(end + 4, end + 4 + length).toString() });
    at = end + 4 + length;
  }
}
