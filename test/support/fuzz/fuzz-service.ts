import { writeFile } from 'node:fs/promises';
import { readlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { everything } from '../everything';
import { HostileProvider } from '../hostile-provider';
import { post } from '../post';
import { runProgram } from '../run-program';
import { freePort } from '../servers/free-port';
import { ServiceProcess } from '../servers/service-process';
import { captchaToken, patientDatabase, testSettings } from '../settings';
import type { SeededNumbers } from '../seeded-numbers';
import { type Account, Lane, lanePrefix, passwords } from './lane';
import type { Seen } from './values';

const probe = (name: string) => `--import ${pathToFileURL(resolve(__dirname, name)).href}`;

/** Everything is on. Limits that would answer 429 or 503, or end the sessions of the fuzz, are far away. */
const settings = {
  ...testSettings,
  ...everything,
  LOG_LEVEL: 'error',
  ADMIN_REQUIRES_MFA: 'false',
  RATE_LIMIT: 'off',
  SQLITE_SYNCHRONOUS: 'normal',
  HASH_QUEUE_LIMIT: '100000',
  MAX_LOCK_COUNT: '1000000',
  OTP_ACCOUNT_MAX_FAILURES: '1000000',
  OTP_COOLDOWN_SECONDS: '1',
  RESET_RESPONSE_UID: 'token',
  RESET_REQUEST_THROTTLE_SECONDS: '1',
  STEP_UP_MAX_AGE_SECONDS: '86400',
  ACCESS_TOKEN_TTL_SECONDS: '86400',
  NEW_SIGN_IN_NOTICE: 'true',
  CORS_ORIGINS: 'https://portal.example',
  // Nothing listens there.
  PASSWORD_BREACH_URL: 'http://127.0.0.1:9/range/',
};

export interface Report {
  /** Milliseconds of work for which the event loop was blocked longest since the last report. */
  readonly longestHoldMs: number;
  /** After a garbage collection. */
  readonly heapMb: number;
  readonly rssMb: number;
}

/**
 * The built program on a private SQLite file, with probes inside, administrators and a service client. An identity provider that
 * tells no lies answers it.
 */
export class FuzzService {
  private reports = 0;

  private constructor(
    private readonly service: ServiceProcess,
    private readonly provider: HostileProvider,
    readonly metricsPort: number,
    private readonly administrators: readonly Account[],
    private readonly client: { readonly id: string; readonly secret: string },
  ) {}

  static async start(lanes: number): Promise<FuzzService> {
    const metricsPort = await freePort();
    const probes = [probe('../loop-probe.mjs'), probe('memory-probe.mjs')].join(' ');
    const env = {
      ...settings,
      METRICS_PORT: `${metricsPort}`,
      NODE_OPTIONS: `${patientDatabase.NODE_OPTIONS} ${probes}`,
    };
    const service = await ServiceProcess.start({ env });
    const provider = await HostileProvider.start(() => new Date());
    try {
      // The command line has to find the same SQLite file.
      const cwd = await readlink(`/proc/${service.pid}/cwd`);
      const cli = async (...args: string[]) => {
        const { code, stdout, stderr } = await runProgram('dist/src/cli.js', [...args, '--json'], {
          env: settings,
          cwd,
        });
        if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
        return JSON.parse(stdout);
      };
      const rows = Array.from({ length: lanes }, (_, n) => ({
        uid: `${lanePrefix}admin-${n}`,
        login_name: `${lanePrefix}admin-${n}`,
        email: `${lanePrefix}admin-${n}@example.com`,
        password: passwords[0],
        is_admin: true,
      }));
      await writeFile(join(cwd, 'users.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
      await cli('user', 'import', 'users.jsonl');
      const { id, secret } = await cli('client', 'create', 'fuzz');
      const accounts = rows.map(({ uid }) => ({ uid, name: uid, password: passwords[0]!, access: '', refresh: '' }));
      return new FuzzService(service, provider, metricsPort, accounts, { id, secret });
    } catch (error) {
      await service.kill();
      await provider.stop();
      throw error;
    }
  }

  get port(): number {
    return this.service.port;
  }

  /** The lines of the log from level `error` on, beside those of AUDIT_STREAM. */
  get errors(): string[] {
    return this.service.lines.filter((line) => line.startsWith('{"level":') && !line.includes('"log":"audit"'));
  }

  get isRunning(): Promise<boolean> {
    const ended = this.service.exited.then(() => false);
    return Promise.race([ended, new Promise<boolean>((done) => setImmediate(() => done(true)))]);
  }

  async lane(n: number, seen: Seen, numbers: SeededNumbers): Promise<Lane> {
    const admin = this.administrators[n]!;
    await this.logIn(admin);
    const places = { origin: settings.SYSTEM_URL, issuer: this.provider.issuer };
    const lane = new Lane(await this.newUser(admin, n), admin, this.client, seen, numbers, places);
    await this.logIn(lane.user);
    return lane;
  }

  /** Gives the lane new sessions where it has lost its own. */
  async repair(lane: Lane): Promise<void> {
    if (lane.expired.admin) await this.logIn(lane.admin);
    if (lane.expired.user && !(await this.logIn(lane.user))) {
      await this.asAdmin(lane.admin, `users/${lane.user.uid}/reset-second-factor`);
      await this.logIn(lane.user);
    }
    lane.expired = { user: false, admin: false };
  }

  async report(): Promise<Report> {
    this.service.signal('SIGUSR2');
    this.reports += 1;
    const lines = await Promise.all(
      ['report', 'memory'].map((kind) => this.service.line(new RegExp(`"${kind}":${this.reports},`))),
    );
    return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object));
  }

  async stop(): Promise<{ code: number | null }> {
    const ended = await this.service.stop();
    await this.provider.stop();
    return ended;
  }

  /** @returns false when the account needs a second factor, or has another password by now */
  private async logIn(account: Account): Promise<boolean> {
    for (const password of [account.password, ...passwords.filter((one) => one !== account.password)]) {
      const body = { username: account.name, password, captcha_token: captchaToken };
      const { status, body: answer } = await post(this.service, '/login', body);
      if (status === 401 && answer.error_code === 'LOGIN_401001') continue;
      if (status !== 200) throw new Error(`the login of ${account.name} answered ${status} ${answer.error_code}`);
      account.password = password;
      if (answer.data.access_token === null) return false;
      account.access = answer.data.access_token;
      account.refresh = answer.data.refresh_token;
      return true;
    }
    return false;
  }

  /** A user who has chosen a password by the link of an invitation. */
  private async newUser(admin: Account, n: number): Promise<Account> {
    const name = `${lanePrefix}user-${n}`;
    const email = `${name}@example.com`;
    const made = await this.asAdmin(admin, 'users', { login_name: name, email });
    const forgotten = await post(this.service, '/forget-password', { email, captcha_token: captchaToken });
    const [password] = passwords as [string];
    const change = { req_uid: forgotten.body.data.uid, password, confirm_password: password };
    const changed = await post(this.service, '/user/change-pwd-by-req', change);
    if (changed.status !== 200) throw new Error(`the first password of ${name}: ${JSON.stringify(changed.body)}`);
    return { uid: made.uid, name, password, access: '', refresh: '' };
  }

  private async asAdmin(admin: Account, path: string, body: object = {}): Promise<any> {
    const bearer = { authorization: `Bearer ${admin.access}` };
    const { status, body: answer } = await post(this.service, `/admin/${path}`, body, bearer);
    if (status !== 200) throw new Error(`/admin/${path} answered ${status} ${JSON.stringify(answer)}`);
    return answer.data;
  }
}
