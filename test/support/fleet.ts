import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { resolve as resolvePath } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Nginx } from './servers/nginx';
import { ServiceProcess } from './servers/service-process';
import { captchaToken, testSettings } from './settings';

const CLI = resolvePath(__dirname, '../../dist/src/cli.js');
export const fleetPassword = 'Correct-Horse-7';

export interface Reply {
  /** 0: no answer at all. */
  readonly status: number;
  readonly body: any;
  readonly ms: number;
}

/** Several processes of the built program on one database, and an nginx in front of them. */
export class Fleet {
  private constructor(
    readonly services: ServiceProcess[],
    readonly nginx: Nginx,
    private readonly env: Record<string, string>,
  ) {}

  static async start(databaseUrl: string, count: number, settings: Record<string, string> = {}): Promise<Fleet> {
    const env = { ...testSettings, LOG_LEVEL: 'warn', TRUSTED_PROXIES: '127.0.0.1', ...settings };
    const all = { ...env, DATABASE_URL: databaseUrl };
    const services = await Promise.all(Array.from({ length: count }, () => ServiceProcess.start({ env: all })));
    return new Fleet(services, await Nginx.start(services.map(({ port }) => port)), all);
  }

  async stop(): Promise<void> {
    await this.nginx.stop();
    await Promise.all(this.services.map((service) => service.kill()));
  }

  /** Sends to all of `services` that are left and to nobody else. */
  async route(services: readonly ServiceProcess[]): Promise<void> {
    await this.nginx.setUpstreams(services.map(({ port }) => port));
  }

  async launch(): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: this.env });
  }

  async cli(...args: string[]): Promise<any> {
    const env = { PATH: process.env.PATH, ...this.env };
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--json'], { env });
    return JSON.parse(stdout);
  }

  async givenUser(name: string): Promise<string> {
    return (await this.cli('user', 'create', '--login-name', name, '--password', fleetPassword)).uid as string;
  }

  /** One request that retries nothing. */
  async send(path: string, { bearer, body }: { bearer?: string; body?: object } = {}): Promise<Reply> {
    const began = performance.now();
    const answered = (status: number, text: string): Reply => ({
      status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      ms: performance.now() - began,
    });
    return new Promise((resolve) => {
      // A connection of its own: a reload of nginx closes those that are kept, which is nginx's doing and not the service's.
      const request = httpRequest(`${this.nginx.url}${path}`, {
        agent: false,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        },
        timeout: 20_000,
      });
      const lost = (error: Error) => resolve(answered(0, `${path}: ${error.message}`));
      request.once('timeout', () => request.destroy(new Error('no answer within 20 s')));
      request.once('error', lost);
      request.once('response', (response) => {
        text(response).then((all) => resolve(answered(response.statusCode ?? 0, all)), lost);
      });
      request.end(body && JSON.stringify(body));
    });
  }

  login(username: string, password = fleetPassword): Promise<Reply> {
    return this.send('/login', { body: { username, password, captcha_token: captchaToken } });
  }
}

interface Session {
  access: string;
  refresh: string;
}

export interface Failure {
  readonly what: string;
  readonly reply: Reply;
  /** `performance.now()` of the answer. */
  readonly at: number;
}

/** People at work: each logs in, looks, refreshes, mistypes the password once, logs out, and again. */
export class MixedLoad {
  readonly failures: Failure[] = [];
  /** Tokens whose logout was answered with success. */
  readonly revoked: string[] = [];
  readonly mistyped = new Map<string, number>();
  requests = 0;
  private running = true;
  private readonly people: Promise<void>[];

  constructor(
    private readonly fleet: Fleet,
    names: readonly string[],
  ) {
    this.people = names.map((name) => this.work(name));
  }

  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.people);
  }

  private async work(name: string): Promise<void> {
    while (this.running) {
      const session = await this.logIn(name);
      if (session === undefined) continue;
      for (let round = 0; round < 3 && this.running; round++) {
        await this.expecting(200, 'me', this.fleet.send('/user/me', { bearer: session.access }));
        const refreshed = await this.expecting(
          200,
          'refresh',
          this.fleet.send('/refresh', { body: { refresh_token: session.refresh } }),
        );
        if (refreshed !== undefined) session.access = refreshed.body.data.access_token as string;
        await pause(15);
      }
      const wrong = await this.expecting(401, 'wrong password', this.fleet.login(name, 'wrong'));
      if (wrong?.body.error_code === 'LOGIN_401001') this.mistyped.set(name, (this.mistyped.get(name) ?? 0) + 1);
      const out = await this.expecting(200, 'logout', this.fleet.send('/logout', { bearer: session.access, body: {} }));
      if (out !== undefined) this.revoked.push(session.access, session.refresh);
    }
  }

  private async logIn(name: string): Promise<Session | undefined> {
    const reply = await this.expecting(200, 'login', this.fleet.login(name));
    if (reply === undefined) return undefined;
    return { access: reply.body.data.access_token as string, refresh: reply.body.data.refresh_token as string };
  }

  private async expecting(status: number, what: string, request: Promise<Reply>): Promise<Reply | undefined> {
    this.requests += 1;
    const reply = await request;
    if (reply.status === status) return reply;
    this.failures.push({ what, reply, at: performance.now() });
    return undefined;
  }
}
