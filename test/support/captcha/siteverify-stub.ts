import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { listen, portOf, shut, urlOf, withBody } from '../loopback';

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
    await listen(this.server);
  }

  close(): Promise<void> {
    return shut(this.server);
  }

  get port(): number {
    return portOf(this.server);
  }

  get url(): string {
    return `${urlOf(this.server)}/siteverify`;
  }

  private readonly handle = withBody((request, response, body) => {
    this.requests.push({ method: request.method, contentType: request.headers['content-type'] });
    this.asked.push(Object.fromEntries(new URLSearchParams(body)));
    this.behaviour(response, request);
  });
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
