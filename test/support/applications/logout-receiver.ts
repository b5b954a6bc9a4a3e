import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, type ProtectedHeaderParameters } from 'jose';
import { listen, shut, urlOf, withBody } from '../loopback';

export interface ReceivedLogout {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly token: string;
  readonly header: ProtectedHeaderParameters;
  readonly claims: JWTPayload & { readonly sid?: string; readonly events?: Record<string, unknown> };
  accepted: boolean;
}

export type Behaviour = (logout: ReceivedLogout, response: ServerResponse) => void;

export const accept: Behaviour = (logout, response) => {
  logout.accepted = true;
  response.writeHead(200, { 'cache-control': 'no-store' }).end();
};

export const answer =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (logout, response) => {
    logout.accepted = status >= 200 && status < 300;
    response.writeHead(status, headers).end();
  };

/** Never answers. */
export const hang: Behaviour = () => undefined;

/** The back-channel logout endpoints of applications, on the loopback interface: one path for each. It records every POST. */
export class LogoutReceiver {
  readonly seen: ReceivedLogout[] = [];
  /** By path; other paths accept. */
  readonly behaviours: Record<string, Behaviour> = {};

  private constructor(private readonly server: Server) {}

  static async start(): Promise<LogoutReceiver> {
    const server = createServer(withBody((request, response, body) => receiver.take(request, response, body)));
    const receiver = new LogoutReceiver(server);
    await listen(server);
    return receiver;
  }

  private take({ url: path = '', headers }: IncomingMessage, response: ServerResponse, body: string): void {
    const token = new URLSearchParams(body).get('logout_token') ?? '';
    const logout = {
      ...{ path, headers, token, accepted: false },
      ...{ header: decodeProtectedHeader(token), claims: decodeJwt(token) },
    };
    this.seen.push(logout);
    (this.behaviours[path] ?? accept)(logout, response);
  }

  /** Ends all connections, as a receiver that starts again. */
  cut(): void {
    this.server.closeAllConnections();
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  uri(path: string): string {
    return `${urlOf(this.server)}${path}`;
  }

  get accepted(): ReceivedLogout[] {
    return this.seen.filter((logout) => logout.accepted);
  }
}
