import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { DynamicModule } from '@nestjs/common';
import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { pino } from 'pino';
import { AppModule } from '../../src/app.module';
import { applyAppSetup, createAdapter } from '../../src/app.setup';
import { AppConfig, loadConfig } from '../../src/settings/app-config';
import { LogoutLimits, logoutLimits } from '../../src/applications/logout/logout-limits';
import { AuditLines } from '../../src/events/stream/audit-lines';
import { EventLimits, eventLimits } from '../../src/events/event-limits';
import { OffboardingLimits, offboardingLimits } from '../../src/offboarding/offboarding-limits';
import { MailLimits, mailLimits } from '../../src/mail/mail-limits';
import { Database } from '../../src/platform/database/database';
import { describeError } from '../../src/platform/logging/describe-error';
import { NestLogger } from '../../src/platform/logging/logger';
import { changeType } from '../../src/shared/change-type';
import { Clock } from '../../src/shared/clock';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { PasswordHistory } from '../../src/users/password-change-log.repository';
import { type NewUser, UserAccounts } from '../../src/users/user-accounts';
import type { User } from '../../src/users/user.entity';
import { assertDeclaredAnswer } from './contract';
import { migratedDatabase, type TestDatabase } from './database';
import { profileSettings } from './everything';
import { FakeClock } from './fakes';
import { SecretsWatch } from './secrets-watch';
import { captchaToken, password, testSettings } from './settings';

export { password };

/**
 * Mails, events and logout tokens leave when a test asks for them. A worker that sends beside a test, while the test moves
 * the clock, sees its lease end and sends twice.
 */
const onlyWhenAsked = { pollMs: 86_400_000, nudgeMs: 86_400_000 };

export interface Answer<T = any> {
  readonly status: number;
  readonly headers: Record<string, string | string[] | number | undefined>;
  readonly body: T;
  readonly raw: Buffer;
}

export interface Request {
  readonly headers?: Record<string, string>;
  readonly bearer?: string;
  readonly ip?: string;
}

/** The whole application in this process, with a private database and a clock that the test moves. */
export class TestService {
  readonly logLines: Record<string, unknown>[] = [];
  /** `stop` fails when a log, an event or a refusal holds a secret of this service. */
  readonly secrets = new SecretsWatch();
  private logText = () => '';

  private constructor(
    readonly app: NestFastifyApplication,
    readonly clock: FakeClock,
    readonly store: TestDatabase,
    readonly dataDir: string,
  ) {}

  /**
   * @param settings environment variables that differ from `testSettings` and from the profile of the jest project
   * @param shared `clock` and `store` of another service make this one a second replica in the same process. `module`
   * replaces the root module. With `workers`, mails and events leave by themselves.
   */
  static async start(
    settings: Record<string, string> = {},
    shared: {
      clock?: FakeClock;
      store?: TestDatabase;
      module?: (config: AppConfig) => DynamicModule;
      workers?: boolean;
    } = {},
  ): Promise<TestService> {
    const store = shared.store ?? (await migratedDatabase());
    const clock = shared.clock ?? new FakeClock();
    const dataDir = await mkdtemp(join(tmpdir(), 'service-data-'));
    // No test cuts the power, so that no commit has to wait for the disk.
    const quick = { SQLITE_SYNCHRONOUS: 'normal' };
    const environment = { ...testSettings, ...quick, ...(await profileSettings()), ...settings };
    const config = loadConfig({ DATABASE_URL: store.url, DATA_DIR: dataDir, ...environment });
    const auditLines: string[] = [];
    const waits = shared.workers === true ? {} : onlyWhenAsked;
    const module = await Test.createTestingModule({ imports: [(shared.module ?? AppModule.with)(config)] })
      .overrideProvider(Clock)
      .useValue(clock)
      .overrideProvider(MailLimits)
      .useValue({ ...mailLimits, ...waits })
      .overrideProvider(EventLimits)
      .useValue({ ...eventLimits, ...waits })
      .overrideProvider(LogoutLimits)
      // A busy machine may take longer for an answer than the service waits.
      .useValue({ ...logoutLimits, ...waits, sendMs: 50_000, leaseMs: 60_000 })
      .overrideProvider(OffboardingLimits)
      .useValue({ ...offboardingLimits, ...waits })
      .overrideProvider(AuditLines)
      .useValue(
        new AuditLines(config.events, (line, done) => done(null, auditLines.push(line.toString()) && line.length)),
      )
      .compile();
    const lines: string[] = [];
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    const logger = pino(
      { level: settings.LOG_LEVEL ?? 'info', base: undefined, serializers: { err: describeError } },
      sink,
    );
    const app = module.createNestApplication<NestFastifyApplication>(createAdapter(), {
      logger: new NestLogger(logger),
      bodyParser: false,
    });
    await applyAppSetup(app, logger);
    // The service loads this package at the first directory login. Under jest that takes longer than an LDAP time-out.
    if (settings.LDAP_URL !== undefined) await import('passport-ldapauth');
    // Clients make their proofs of possession for the time that an answer tells, which is the one of the test.
    app.getHttpServer().prependListener('request', (_request: unknown, response: ServerResponse) => {
      response.setHeader('date', clock.now().toUTCString());
    });
    const service = new TestService(app, clock, store, dataDir);
    Object.defineProperty(service, 'logLines', { get: () => lines.map((line) => JSON.parse(line) as object) });
    service.logText = () => [...lines, ...auditLines].join('');
    service.secrets.settings(environment);
    return service;
  }

  async stop({ keepStore = false } = {}): Promise<void> {
    await this.app.close();
    const rows = this.secrets.rowsIn(this.store.url);
    if (!keepStore) await this.store.drop();
    await rm(this.dataDir, { recursive: true, force: true });
    this.secrets.assertAbsent({ 'lines of the log': this.logText(), 'rows of the logs': rows });
  }

  get database(): Database {
    return this.app.get(Database);
  }

  post<T = any>(path: string, body?: unknown, request: Request = {}): Promise<Answer<T>> {
    return this.send('POST', path, body, request);
  }

  get<T = any>(path: string, request: Request = {}): Promise<Answer<T>> {
    return this.send('GET', path, undefined, request);
  }

  async send<T = any>(
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS',
    path: string,
    body?: unknown,
    { headers = {}, bearer, ip }: Request = {},
  ): Promise<Answer<T>> {
    const answer = await this.app.inject({
      method,
      url: path,
      remoteAddress: ip ?? '127.0.0.1',
      headers: { ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object }),
    });
    this.secrets.request(body, headers, bearer);
    const json = String(answer.headers['content-type']).startsWith('application/json') && answer.payload !== '';
    const received = {
      status: answer.statusCode,
      headers: answer.headers,
      body: (json ? JSON.parse(answer.payload) : undefined) as T,
      raw: answer.rawPayload,
    };
    this.secrets.answer(received.status, received.body, received.raw);
    const prefix = this.app.get(AppConfig).http.apiPrefix;
    if (path.startsWith(prefix)) assertDeclaredAnswer({ ...received, method, url: path.slice(prefix.length) });
    return received;
  }

  /** Creates a user. By default the user is enabled and has the password `password`. */
  async givenUser(
    loginName: string,
    more: Partial<NewUser> & { password?: string | null; passwordSetAt?: Date } = {},
  ): Promise<User> {
    const { password: chosen = password, passwordSetAt, ...rest } = more;
    const local = rest.provider !== 'ldap' && chosen !== null;
    this.secrets.add('the password of a user', chosen);
    this.secrets.allow(loginName, rest.email, rest.nickname);
    const hash = local ? await this.app.get(PasswordHasher).hash(chosen, { ip: 'test' }) : null;
    this.secrets.add('a stored hash', hash);
    return this.database.transaction(async (tx) => {
      const user = await this.app.get(UserAccounts).create(tx, {
        loginName,
        email: `${loginName}@example.com`,
        nickname: loginName,
        passwordHash: hash,
        temporary: false,
        status: 1,
        mfaType: 'email',
        provider: 'password',
        isAdmin: false,
        tenantId: 'root',
        orgUnitId: null,
        ...rest,
      });
      if (hash !== null) await this.app.get(PasswordHistory).append(tx, user.uid, changeType.first, hash);
      if (passwordSetAt !== undefined) {
        await tx.affected('UPDATE user_change_pwd_logs SET created_at = ? WHERE user_id = ?', [
          passwordSetAt,
          user.uid,
        ]);
      }
      return user;
    });
  }

  login(
    username: string,
    typed = password,
    more: Record<string, unknown> = {},
    request: Request = {},
  ): Promise<Answer> {
    return this.post('/login', { username, password: typed, captcha_token: captchaToken, ...more }, request);
  }

  /** Logs in a user without a second factor and returns the token pair. */
  async session(username: string): Promise<{ access: string; refresh: string }> {
    const { status, body } = await this.login(username);
    if (status !== 200) throw new Error(`the login answered ${status} ${body.error_code}`);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  }

  /** The row of a user, by the names of the columns. */
  async userRow(uid: string): Promise<Record<string, any>> {
    const row = await this.database.row<Record<string, any>>('SELECT * FROM users WHERE uid = ?', [uid]);
    if (row === undefined) throw new Error(`there is no user ${uid}`);
    return row;
  }

  async count(table: string, where = '1 = 1', values: string[] = []): Promise<number> {
    const row = await this.database.row<{ n: number }>(`SELECT COUNT(*) AS n FROM ${table} WHERE ${where}`, values);
    return Number(row?.n);
  }
}

/** Counts the outcomes of a burst of requests, for example `{ success: 1, LOGIN_401001: 3 }`. */
export function tally(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of answers) {
    const key = status === 200 ? 'success' : String(body?.error_code ?? status);
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
