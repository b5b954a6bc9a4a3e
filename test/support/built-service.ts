import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { newKeyPem } from './forged-tokens';
import { post } from './post';
import { runProgram } from './run-program';
import { freePort } from './servers/free-port';
import { ServiceProcess } from './servers/service-process';
import { captchaToken, password, testSettings } from './settings';

/** The built service on a SQLite file of its own, with ES256, and its command line. */
export class BuiltService {
  private constructor(
    private readonly directory: string,
    readonly env: Record<string, string>,
    private process: ServiceProcess,
  ) {}

  static async start(): Promise<BuiltService> {
    const directory = await mkdtemp(join(tmpdir(), 'built-'));
    const env = {
      ...testSettings,
      JWT_ALGORITHM: 'ES256',
      JWT_PRIVATE_KEY: newKeyPem(),
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      DATA_DIR: directory,
      PORT: `${await freePort()}`,
    };
    try {
      return new BuiltService(directory, env, await ServiceProcess.start({ env }));
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  get url(): string {
    return this.process.url;
  }

  get port(): number {
    return this.process.port;
  }

  /** The key that signs its tokens. */
  get pem(): string {
    return this.env.JWT_PRIVATE_KEY!;
  }

  async cli<T>(...args: string[]): Promise<T> {
    const command = [...args, '--json'];
    const { code, stdout, stderr } = await runProgram('dist/src/cli.js', command, {
      env: this.env,
      cwd: this.directory,
    });
    if (code !== 0) throw new Error(stderr);
    return JSON.parse(stdout) as T;
  }

  givenUser(login: string, ...more: string[]): Promise<{ uid: string }> {
    const email = `${login}@example.com`;
    return this.cli('user', 'create', '--login-name', login, '--email', email, '--password', password, ...more);
  }

  async logIn(username: string): Promise<{ access: string; refresh: string }> {
    const { status, body } = await post(this, '/login', { username, password, captcha_token: captchaToken });
    if (status !== 200) throw new Error(`/login answered ${status}`);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  }

  async logOut(access: string): Promise<void> {
    await post(this, '/logout', {}, { authorization: `Bearer ${access}` });
  }

  /** Like a crash. `restart` starts it again with the same data and port. */
  async kill(): Promise<void> {
    await this.process.kill();
  }

  async restart(): Promise<void> {
    this.process = await ServiceProcess.start({ env: this.env });
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
