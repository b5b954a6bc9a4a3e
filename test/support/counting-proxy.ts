import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { listen, shut, urlOf } from './loopback';

/** A reverse proxy that counts the requests of each path. A test can hold them back, or answer in their place. */
export class CountingProxy {
  readonly counts = new Map<string, number>();
  /** Replaces the answer of the service. */
  answer: ((response: ServerResponse) => void) | undefined;
  /** The service gets requests of this path, and the client gets no answer. */
  losesAnswersOf: string | undefined;
  lost = 0;
  private held: (() => void)[] | undefined;

  private constructor(
    private readonly server: Server,
    private readonly targetPort: number,
  ) {}

  static async start(targetPort: number): Promise<CountingProxy> {
    const server = createServer();
    const proxy = new CountingProxy(server, targetPort);
    server.on('request', (request, response) => proxy.take(request, response));
    await listen(server);
    return proxy;
  }

  get url(): string {
    return urlOf(this.server);
  }

  countOf(path: string): number {
    return this.counts.get(path) ?? 0;
  }

  /** Requests wait from now on, until `release`. */
  hold(): void {
    this.held = [];
  }

  release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    held.forEach((forward) => forward());
  }

  stop(): Promise<void> {
    return shut(this.server);
  }

  private take(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.counts.set(path, this.countOf(path) + 1);
    const forward = () => this.forward(request, response);
    if (this.answer !== undefined) this.answer(response);
    else if (this.held !== undefined) this.held.push(forward);
    else forward();
  }

  /** A service that is down is a broken connection here, too. */
  private forward(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url: path } = request;
    const options = { host: '127.0.0.1', port: this.targetPort, method, headers, path, agent: false } as const;
    const upstream = httpRequest(options, (answer) => {
      if (path === this.losesAnswersOf) {
        answer.resume();
        this.lost++;
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  }
}
