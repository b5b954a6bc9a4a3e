import { execFile } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { join, resolve as resolvePath } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Exit } from './servers/guarded-child';
import { Nginx } from './servers/nginx';
import { ServiceProcess } from './servers/service-process';
import { captchaToken, testSettings } from './settings';

const ROOT = resolvePath(__dirname, '../..');
export const fleetPassword = 'Correct-Horse-7';

export const addressOf = (name: string): string => `${name}@example.com`;

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
    private env: Record<string, string>,
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

  /** From now on processes start with these, and so does the command line. */
  set(settings: Record<string, string>): void {
    this.env = { ...this.env, ...settings };
  }

  /** One process more, which gets no requests yet. `root` has the program, where it is not the one that was built here. */
  async launch({ root = ROOT, ready }: { root?: string; ready?: `/${string}` } = {}): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: this.env, script: join(root, 'dist/src/main.js'), ready });
  }

  /** As in the cluster: they are told to go, and the ingress hears of it later. */
  async retire(...leaving: ServiceProcess[]): Promise<Exit[]> {
    for (const service of leaving) service.signal('SIGTERM');
    await pause(1000);
    for (const service of leaving) this.services.splice(this.services.indexOf(service), 1);
    await this.route(this.services);
    const exits = await Promise.all(leaving.map(({ exited }) => exited));
    for (const service of leaving) await service.kill();
    return exits;
  }

  /** Takes this one's requests as well from now on. */
  async admit(coming: ServiceProcess): Promise<void> {
    this.services.push(coming);
    await this.route(this.services);
  }

  async cli(...args: string[]): Promise<any> {
    return (await this.run(args)).answer;
  }

  /** The command line to its end, whatever it is. */
  async run(args: string[], { root = ROOT } = {}): Promise<{ code: number; answer: any; stderr: string }> {
    const env = { PATH: process.env.PATH, ...this.env };
    const command = [join(root, 'dist/src/cli.js'), ...args, '--json'];
    return promisify(execFile)(process.execPath, command, { env }).then(
      ({ stdout, stderr }) => ({ code: 0, answer: JSON.parse(stdout), stderr }),
      ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({
        code,
        answer: stdout === '' ? undefined : JSON.parse(stdout),
        stderr,
      }),
    );
  }

  async givenUser(name: string): Promise<string> {
    const args = ['--login-name', name, '--email', addressOf(name), '--password', fleetPassword];
    return (await this.cli('user', 'create', ...args)).uid as string;
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
