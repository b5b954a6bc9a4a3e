import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { webhookSecret } from './events/webhook-receiver';
import { listen, shut, urlOf, withBody } from './loopback';

export interface Asked {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: {
    readonly login_name: string;
    readonly email?: string;
    readonly password: string;
    readonly request_id: string;
  };
}

export type LegacyBehaviour = (
  asked: Asked,
  response: ServerResponse,
  request: IncomingMessage,
) => void | Promise<void>;

export const legacyAnswer =
  (body: string | Buffer, status = 200, headers: Record<string, string> = {}): LegacyBehaviour =>
  (_asked, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);

/** The system that the users come from, on the loopback interface. It records every question. */
export class LegacyStandIn {
  readonly seen: Asked[] = [];
  /** The passwords that it knows, by login name. */
  readonly passwords = new Map<string, string>();
  behaviour: LegacyBehaviour = this.judging();
  private readonly server: Server = createServer(
    withBody((request, response, text) => {
      const asked = { headers: request.headers, text, body: JSON.parse(text) as Asked['body'] };
      this.seen.push(asked);
      void this.behaviour(asked, response, request);
    }),
  );

  static async start(): Promise<LegacyStandIn> {
    const legacy = new LegacyStandIn();
    // The service would find out only by its next POST that an idle connection was closed.
    legacy.server.keepAliveTimeout = 0;
    await listen(legacy.server);
    return legacy;
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  /** Answers by `passwords`. */
  judging(): LegacyBehaviour {
    return ({ body }, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ result: this.passwords.get(body.login_name) === body.password }));
  }

  get url(): string {
    return `${urlOf(this.server)}/verify`;
  }

  /** The settings of a service that asks it. A busy machine may take longer than the default waits. */
  get settings(): Record<string, string> {
    return { LEGACY_VERIFY_URL: this.url, LEGACY_VERIFY_SECRET: webhookSecret, LEGACY_VERIFY_TIMEOUT_MS: '10000' };
  }
}
