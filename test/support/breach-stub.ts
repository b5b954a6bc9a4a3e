import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** Everything that one request sent: the line, all headers and the body. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase();

/** A line of the range protocol for a password, without the five digits of the range. */
export const lineOf = (password: string, count: number | string): string => `${sha1(password).slice(5)}:${count}`;
const padding = (n: number): string => `${sha1(`padding ${n}`).slice(5)}:0`;

/** Answers a range: the given lines between lines of padding. */
export const range =
  (...lines: string[]): Behaviour =>
  (response) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end([padding(1), ...lines, padding(2)].join('\r\n'));

export const answer =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(status, headers).end(body);

/** A service of breached passwords on the loopback interface. It records everything that it receives. */
export class BreachStub {
  readonly seen: SeenRequest[] = [];
  behaviour: Behaviour = range();
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') });
      this.behaviour(response, request);
    });
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/range/`;
  }
}
