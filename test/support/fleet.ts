import { request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Answer } from './app';
import { Replicas, type Started } from './replicas';
import { eventually } from './servers/eventually';
import type { Exit } from './servers/guarded-child';
import { Nginx } from './servers/nginx';
import type { ServiceProcess } from './servers/service-process';
import { captchaToken, password } from './settings';

/** An answer that came through nginx. If there was no answer, the status is 0 and the body is the reason. */
export interface Reply extends Answer {
  readonly ms: number;
}

/** A process closes its port this many milliseconds after SIGTERM (`ingressDelayMs` in src/server.ts). */
const drainMs = 3000;

/** Replicas behind nginx. They are started and stopped during a test, as in a cluster. */
export class Fleet extends Replicas {
  private constructor(
    private readonly nginx: Nginx,
    started: Started,
  ) {
    super(started);
  }

  static override async start(settings: Record<string, string> = {}, count = 2, databaseUrl?: string): Promise<Fleet> {
    const behindProxy = { LOG_LEVEL: 'warn', TRUSTED_PROXIES: '127.0.0.1', ...settings };
    const started = await Replicas.launchAll(behindProxy, count, databaseUrl);
    return new Fleet(await Nginx.start(started.services.map(({ port }) => port)), started);
  }

  override async stop(): Promise<void> {
    await this.nginx.stop();
    await super.stop();
  }

  /** Sends new requests only to these processes. */
  async route(services: readonly ServiceProcess[]): Promise<void> {
    await this.nginx.setUpstreams(services.map(({ port }) => port));
  }

  /**
   * Stops processes as a cluster does. They get SIGTERM first, and the ingress removes them when they are not ready.
   * The processes close their ports three seconds after SIGTERM, so the ingress must be faster.
   */
  async retire(...leaving: ServiceProcess[]): Promise<Exit[]> {
    for (const service of leaving) service.signal('SIGTERM');
    const signalled = performance.now();
    for (const { url } of leaving) {
      // On a busy machine the first question may come after the port was closed.
      const notReady = () =>
        fetch(`${url}/health/ready`).then(
          ({ status }) => status === 503,
          () => performance.now() - signalled > drainMs,
        );
      await eventually(notReady, { what: 'readiness 503 after SIGTERM' });
    }
    for (const service of leaving) this.services.splice(this.services.indexOf(service), 1);
    await this.route(this.services);
    const exits = await Promise.all(leaving.map(({ exited }) => exited));
    for (const service of leaving) await service.kill();
    return exits;
  }

  /** Sends new requests to this process as well. */
  async admit(coming: ServiceProcess): Promise<void> {
    this.services.push(coming);
    await this.route(this.services);
  }

  /** Sends one request through nginx, without retries. */
  async send(path: string, { bearer, body }: { bearer?: string; body?: object } = {}): Promise<Reply> {
    const began = performance.now();
    const answered = (status: number, headers: Answer['headers'], raw: Buffer): Reply => {
      const text = raw.toString();
      const ms = performance.now() - began;
      return { status, headers, raw, body: text.startsWith('{') ? JSON.parse(text) : text, ms };
    };
    return new Promise((resolve) => {
      // Each request uses a new connection: a reload of nginx closes kept ones, which is no failure of the service.
      const request = httpRequest(`${this.nginx.url}${path}`, {
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        timeout: 60_000,
      });
      const lost = (error: Error) => resolve(answered(0, {}, Buffer.from(`${path}: ${error.message}`)));
      request.once('timeout', () => request.destroy(new Error('no answer within 60 s')));
      request.once('error', lost);
      request.once('response', (response) => {
        buffer(response).then((raw) => resolve(answered(response.statusCode ?? 0, response.headers, raw)), lost);
      });
      request.end(body && JSON.stringify(body));
    });
  }

  override login(username: string, typed: string = password): Promise<Reply> {
    return this.send('/login', { body: { username, password: typed, captcha_token: captchaToken } });
  }
}
