import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { portOf, shut, withBody } from '../loopback';
import { eventually } from '../servers/eventually';

/** 32 bytes. */
export const webhookSecret = `whsec_${Buffer.from('a-secret-of-the-tests-of-webhook').toString('base64')}`;

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, any>>;
  /** Whether the receiver accepted it. */
  accepted: boolean;
}

export type Behaviour = (event: Received, response: ServerResponse, request: IncomingMessage) => void;

/** Accepts the event. */
export const accept: Behaviour = (event, response) => {
  event.accepted = true;
  response.writeHead(204).end();
};

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (event, response) => {
    event.accepted = status >= 200 && status < 300;
    response.writeHead(status, headers).end(body);
  };

/** A token is not JSON: its test reads the body. */
const contentOf = (body: string): Pick<Received, 'type' | 'data'> =>
  body.startsWith('{') ? (JSON.parse(body) as Received) : { type: '', data: {} };

/** A receiver of webhooks on the loopback interface. It records every POST. */
export class WebhookReceiver {
  readonly seen: Received[] = [];
  /** Connections since the start. */
  connections = 0;
  behaviour: Behaviour = accept;
  private port = 0;
  private server: Server | undefined;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    await receiver.listen();
    return receiver;
  }

  /** Listens on the same port again after `stop`. */
  async listen(): Promise<void> {
    this.server = createServer(
      withBody((request, response, body) => {
        const { headers, url: path = '' } = request;
        const { type, data } = contentOf(body);
        const event = { path, headers, body, id: String(headers['webhook-id']), type, data, accepted: false };
        this.seen.push(event);
        this.behaviour(event, response, request);
      }),
    );
    // A statement may hold up this process for seconds. Then the server would close idle connections, and the sender would
    // find that out only by its next POST.
    this.server.keepAliveTimeout = 0;
    this.server.on('connection', () => (this.connections += 1));
    await new Promise<void>((resolve) => this.server!.listen(this.port, '127.0.0.1', resolve));
    this.port = portOf(this.server);
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server === undefined) return;
    await shut(server);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/events`;
  }

  /** The settings of a service that sends to this receiver. */
  get settings(): Record<string, string> {
    return { WEBHOOK_URL: this.url, WEBHOOK_SECRET: webhookSecret };
  }

  get accepted(): Received[] {
    return this.seen.filter((event) => event.accepted);
  }

  async waitFor(count: number): Promise<void> {
    await eventually(() => this.accepted.length >= count, { what: `${count} events arrive` });
  }

  /** The numbers that `EventReplica.record` gave to the events of each user, in the order of their first arrival. */
  order(): Record<string, number[]> {
    const users: Record<string, number[]> = {};
    for (const { data } of this.accepted.filter((event) => event.data.detail !== undefined)) {
      const numbers = (users[String(data.user_id)] ??= []);
      const number = Number(data.detail.n);
      if (!numbers.includes(number)) numbers.push(number);
    }
    return users;
  }
}
