import { randomUUID } from 'node:crypto';
import { join, resolve } from 'node:path';
import { createConnection, type Connection } from 'mysql2/promise';
import { identityKey } from '../../src/shared/identity-key';
import type { Answer } from './app';
import { CommandLine } from './command-line';
import { repeatedWhileOverloaded } from './overload';
import { runProgram } from './run-program';
import { MariaDbDatabases } from './servers/mariadb-databases';
import { ServiceProcess } from './servers/service-process';
import { captchaToken, password, patientDatabase, testSettings } from './settings';

export const ROOT = resolve(__dirname, '../..');

export const addressOf = (name: string): string => `${name}@example.com`;

/** Selects the mails with codes. A mail that expires before it could be sent, after five minutes, loses its content. */
export const codeMails =
  "SELECT payload FROM mail_outbox WHERE kind = 'otp' AND payload IS NOT NULL ORDER BY created_at";

export interface Started {
  readonly services: ServiceProcess[];
  readonly databaseUrl: string;
  readonly sql: Connection;
  readonly env: Record<string, string>;
  /** Whether `stop` drops the database. */
  readonly ownDatabase: boolean;
  /** The folder of the built program that processes and commands run. */
  readonly root: string;
}

/** Processes of the built program that share one MariaDB database. `Fleet` puts an nginx in front of them. */
export class Replicas {
  /** The replicas that receive the requests of the test. */
  readonly services: ServiceProcess[];
  readonly databaseUrl: string;
  readonly sql: Connection;
  private env: Record<string, string>;
  private commandLine: CommandLine | undefined;
  /** The rows of the users that the command line has made, by their password. */
  private readonly firstUsers = new Map<string, { row: Record<string, unknown>; change: Record<string, unknown> }>();

  protected constructor(private readonly started: Started) {
    ({ services: this.services, databaseUrl: this.databaseUrl, sql: this.sql, env: this.env } = started);
  }

  /**
   * @param databaseUrl default: a new database, which `stop` drops. With several URLs, which replicas use in turn, they
   * are the same database on the nodes of a cluster
   */
  static async start(
    settings: Record<string, string> = {},
    count = 2,
    databaseUrl?: string | readonly string[],
  ): Promise<Replicas> {
    return new Replicas(await Replicas.launchAll(settings, count, databaseUrl));
  }

  protected static async launchAll(
    settings: Record<string, string>,
    count: number,
    given?: string | readonly string[],
    root = ROOT,
  ): Promise<Started> {
    const databases = MariaDbDatabases.shared();
    const created = root === ROOT ? () => databases.migratedDatabase() : () => databases.freshDatabase();
    const urls = [given ?? (await created())].flat();
    const databaseUrl = urls[0] as string;
    const env = { ...testSettings, ...patientDatabase, ...settings, DATABASE_URL: databaseUrl };
    // All replicas start at the same time, as in a roll-out.
    const services = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        ServiceProcess.start({
          env: { ...env, DATABASE_URL: urls[n % urls.length] as string },
          script: join(root, 'dist/src/main.js'),
        }),
      ),
    );
    const sql = await createConnection({ uri: databaseUrl, timezone: 'Z' });
    return { services, databaseUrl, sql, env, ownDatabase: given === undefined, root };
  }

  /**
   * From now on most commands run in one process (command-line.ts), one after the other. For tests that run many and kill none. The
   * replicas have to run this build with patient limits.
   */
  shareCommands(): void {
    this.commandLine = new CommandLine(2, patientDatabase.NODE_OPTIONS);
  }

  async stop(): Promise<void> {
    try {
      await this.commandLine?.stop();
    } finally {
      await this.sql.end();
      await Promise.all(this.services.map((service) => service.kill()));
      if (this.started.ownDatabase) await MariaDbDatabases.shared().drop(this.databaseUrl);
    }
  }

  /** Settings of processes and commands that start from now on. */
  set(settings: Record<string, string>): void {
    this.env = { ...this.env, ...settings };
  }

  /**
   * Starts another process with the same settings. It receives no requests of `post` and `get`.
   * @param options.root root folder of the built program. Default: that of the other processes
   */
  async launch({
    root = this.started.root,
    ready,
  }: { root?: string; ready?: `/${string}` } = {}): Promise<ServiceProcess> {
    return ServiceProcess.start({ env: this.env, script: join(root, 'dist/src/main.js'), ready });
  }

  /** Runs the command line with the same settings. A command that fails does not throw. */
  async run(
    args: string[],
    { root = this.started.root, input }: { root?: string; input?: string } = {},
  ): Promise<{ code: number | null; answer: any; stderr: string }> {
    const command = [...args, '--json'];
    const surroundings = { env: this.env, cwd: process.cwd(), input };
    const { code, stdout, stderr } =
      this.commandLine !== undefined && root === ROOT
        ? await this.commandLine.run(command, surroundings)
        : await runProgram(join(root, 'dist/src/cli.js'), command, surroundings);
    return { code, answer: stdout === '' ? undefined : JSON.parse(stdout), stderr };
  }

  /** Runs a command that has to succeed, and returns what it printed. */
  async cli(...args: string[]): Promise<any> {
    const { code, answer, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} ended with ${code}: ${stderr}`);
    return answer;
  }

  /**
   * Creates an enabled user. The command line makes the first user of each password. The others are copies of its rows as they
   * were then, because a start of the command line takes longer than most of what a test does with a user.
   * @param options.email null: the user has none
   */
  async givenUser(
    name: string,
    { password: own = password, email = addressOf(name) }: { password?: string; email?: string | null } = {},
  ): Promise<string> {
    const first = this.firstUsers.get(own);
    if (first === undefined) {
      const address = email === null ? [] : ['--email', email];
      const { uid } = await this.cli('user', 'create', '--login-name', name, ...address, '--password', own);
      const [row] = await this.rows('SELECT * FROM users WHERE uid = ?', [uid]);
      const [change] = await this.rows('SELECT * FROM user_change_pwd_logs WHERE user_id = ?', [uid]);
      this.firstUsers.set(own, { row: row!, change: change! });
      return uid as string;
    }
    const uid = randomUUID();
    const names = { login_name: name, login_name_key: identityKey(name) };
    const addresses = { email, email_key: email === null ? null : identityKey(email) };
    await this.rows('INSERT INTO users SET ?', [{ ...first.row, uid, ...names, ...addresses }]);
    await this.rows('INSERT INTO user_change_pwd_logs SET ?', [{ ...first.change, id: undefined, user_id: uid }]);
    return uid;
  }

  async rows(statement: string, values: unknown[] = []): Promise<Record<string, any>[]> {
    return (await this.sql.query(statement, values))[0] as Record<string, any>[];
  }

  deadlocks(): Promise<string[]> {
    return MariaDbDatabases.shared().deadlocks(this.databaseUrl);
  }

  /** Sends a request to the replica with the number `n` (modulo the number of replicas). */
  async post(path: string, body: unknown, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    return this.fetch(path, n, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  async change(path: string, body: object, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    const type = { 'content-type': 'application/json' };
    return this.fetch(path, n, { method: 'PATCH', headers: { ...type, ...headers }, body: JSON.stringify(body) });
  }

  async get(path: string, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    return this.fetch(path, n, { headers });
  }

  async remove(path: string, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    return this.fetch(path, n, { method: 'DELETE', headers });
  }

  login(username: string, typed: string = password, n = 0): Promise<Answer> {
    return this.post('/login', { username, password: typed, captcha_token: captchaToken }, n);
  }

  private fetch(path: string, n: number, init: RequestInit): Promise<Answer> {
    return repeatedWhileOverloaded(() => this.fetchOnce(path, n, init));
  }

  private async fetchOnce(path: string, n: number, init: RequestInit): Promise<Answer> {
    const service = this.services[n % this.services.length];
    const response = await fetch(`${service?.url}${path}`, init);
    const raw = Buffer.from(await response.arrayBuffer());
    const json = response.headers.get('content-type')?.startsWith('application/json') && raw.length > 0;
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: json ? JSON.parse(raw.toString()) : undefined,
      raw,
    };
  }
}
