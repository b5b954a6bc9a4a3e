import { resolve } from 'node:path';

import { freePort } from './free-port';
import { GuardedChild, type Exit } from './guarded-child';
import { SecretsWatch } from '../secrets-watch';
import { password } from '../settings';
import { inPrivateDirectory, removeDirectory } from './private-directory';

const ROOT = resolve(__dirname, '../../..');

export interface ServiceOptions {
  /** The whole environment of the process. PATH, HOME, TMPDIR, HOST and PORT have defaults. */
  env?: Record<string, string>;
  /** Path from the root of the project. Default: `dist/src/main.js`. */
  script?: string;
  args?: string[];
  /** Default: a new empty directory, so that a relative `data/` is never that of the developer. */
  cwd?: string;
  /** What shows that the process is ready: a printed line, a path that answers 200, or only its start. */
  ready?: RegExp | `/${string}` | 'started';
  /** Time-out for becoming ready, in milliseconds. Default: 180,000. */
  timeout?: number;
}

/**
 * The built program in a separate process, as an operator runs it. `stop` and `kill` fail when its output has shown a
 * secret of its settings, the password of the test users, or a token.
 */
export class ServiceProcess {
  private constructor(
    private readonly child: GuardedChild,
    readonly port: number,
    private readonly directory: string,
    private readonly secrets: SecretsWatch | undefined,
  ) {}

  static async start({
    env = {},
    script = 'dist/src/main.js',
    ...options
  }: ServiceOptions = {}): Promise<ServiceProcess> {
    return inPrivateDirectory('service', async (directory) => {
      const port = Number(env.PORT ?? (await freePort()));
      const { PATH = '', HOME = '', TMPDIR = '' } = process.env;
      const child = await GuardedChild.start({
        command: process.execPath,
        args: [resolve(ROOT, script), ...(options.args ?? [])],
        env: { PATH, HOME, ...(TMPDIR && { TMPDIR }), HOST: '127.0.0.1', PORT: `${port}`, ...env },
        cwd: options.cwd ?? directory,
        directory,
      });
      // Other scripts are programs of the tests.
      const secrets = script.endsWith('main.js') ? new SecretsWatch() : undefined;
      secrets?.settings(env);
      secrets?.add('the password of the test users', password);
      const service = new ServiceProcess(child, port, directory, secrets);
      try {
        await service.becomeReady(options.ready ?? '/health/ready', options.timeout);
      } catch (error) {
        await service.kill();
        throw error;
      }
      return service;
    });
  }

  /** `http://127.0.0.1:port` */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.child.pid;
  }

  /** Output so far, standard output and standard error. */
  get lines(): readonly string[] {
    return this.child.lines;
  }

  /** Resolves when the process has ended for any reason. */
  get exited(): Promise<Exit> {
    return this.child.exited;
  }

  /** Resolves with the first matching line, which may have been printed before. */
  async line(pattern: RegExp, timeout?: number): Promise<string> {
    return this.child.line(pattern, timeout);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.signal(signal);
  }

  /** Sends SIGTERM, then SIGKILL after `patience` milliseconds. The result shows which signal ended the process. */
  async stop(patience = 60_000): Promise<Exit> {
    return this.leave(this.child.end('SIGTERM', patience));
  }

  /** Kills the process like a crash (SIGKILL). */
  async kill(): Promise<Exit> {
    return this.leave(this.child.end('SIGKILL'));
  }

  private async leave(end: Promise<Exit>): Promise<Exit> {
    const exit = await end;
    await removeDirectory(this.directory);
    this.secrets?.assertAbsent({ 'lines of the process': this.lines.join('\n') });
    return exit;
  }

  private async becomeReady(ready: RegExp | string, timeout = 180_000): Promise<void> {
    if (ready === 'started') return;
    if (ready instanceof RegExp) {
      await this.line(ready, timeout);
      return;
    }
    const answers = async () => {
      const { status } = await fetch(`${this.url}${ready}`);
      if (status !== 200) throw new Error(`${ready} answered ${status}`);
    };
    await this.child.becomeReady(`the service (${ready})`, answers, timeout);
  }
}
