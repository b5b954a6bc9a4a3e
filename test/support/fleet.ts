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
  /** 0 when there was no answer. */
  readonly status: number;
  readonly body: any;
  readonly ms: number;
}

/** Several replicas of the built program with one database, behind an nginx. */
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

  /** Sends new requests only to these processes. */
  async route(services: readonly ServiceProcess[]): Promise<void> {
    await this.nginx.setUpstreams(services.map(({ port }) => port));
  }

  /** Settings for processes and commands that start from now on. */
  set(settings: Record<string, string>): void {
    this.env = { ...this.env, ...settings };
  }

  /**
   * Starts another process. It gets no requests before `admit`.
   * @param root root folder of the built program. Default: this project
   */
  async launch({ root = ROOT, ready }: { root?: string; ready?: `/${string}` } = {}): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: this.env, script: join(root, 'dist/src/main.js'), ready });
  }

  /** Stops processes as a cluster does: they get SIGTERM first, and the ingress removes them a moment later. */
  async retire(...leaving: ServiceProcess[]): Promise<Exit[]> {
    for (const service of leaving) service.signal('SIGTERM');
    await pause(1000);
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

  async cli(...args: string[]): Promise<any> {
    return (await this.run(args)).answer;
  }

  /** Runs the command line and returns its result, also if it fails. */
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

  /** Sends one request, without retries. */
  async send(path: string, { bearer, body }: { bearer?: string; body?: object } = {}): Promise<Reply> {
    const began = performance.now();
    const answered = (status: number, text: string): Reply => ({
      status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      ms: performance.now() - began,
    });
    return new Promise((resolve) => {
      // Each request uses a new connection: a reload of nginx closes kept ones, which is no failure of the service.
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
