import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen, shut, urlOf, withBody } from './loopback';

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
  private readonly server: Server = createServer(
    withBody((request, response, body) => {
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers, body });
      this.behaviour(response, request);
    }),
  );

  async listen(): Promise<void> {
    await listen(this.server);
  }

  close(): Promise<void> {
    return shut(this.server);
  }

  get url(): string {
    return `${urlOf(this.server)}/range/`;
  }
}
