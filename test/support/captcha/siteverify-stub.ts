import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

/** A fake siteverify provider on the loopback interface. It records requests and answers as the test says. */
export class SiteverifyStub {
  /** The forms that the stub has received, in order. */
  readonly asked: Record<string, string>[] = [];
  readonly requests: { method?: string; contentType?: string }[] = [];
  behaviour: Behaviour = json({ success: true });
  private server: Server;

  async listen(): Promise<void> {
    this.server = createServer(this.handle);
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/siteverify`;
  }

  private readonly handle: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.requests.push({ method: request.method, contentType: request.headers['content-type'] });
      this.asked.push(Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString('utf8'))));
      this.behaviour(response, request);
    });
  };
}

export function text(body: string, status = 200, headers: Record<string, string> = {}): Behaviour {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export function json(body: unknown, status = 200): Behaviour {
  return text(JSON.stringify(body), status);
}

export const hang: Behaviour = () => {};

/** Sends the headers and half of the body, and then nothing more. */
export const hangInBody: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write('{"success":');
};

export const reset: Behaviour = (_response, request) => {
  request.socket.resetAndDestroy();
};
