import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { createConnection, type Connection } from 'mysql2/promise';
import { MariaDbDatabases } from './servers/mariadb-databases';
import { ServiceProcess } from './servers/service-process';
import type { Answer } from './app';
import { captchaToken, testSettings } from './settings';

const ROOT = resolve(__dirname, '../..');

/** Replicas of the built program (two by default) with one MariaDB database. */
export class Replicas {
  private constructor(
    readonly services: readonly ServiceProcess[],
    readonly databaseUrl: string,
    readonly sql: Connection,
  ) {}

  static async start(settings: Record<string, string> = {}, count = 2): Promise<Replicas> {
    const databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    const env = { ...testSettings, DATABASE_URL: databaseUrl, ...settings };
    // All replicas start at the same time, which the migrations must tolerate.
    const services = await Promise.all(Array.from({ length: count }, () => ServiceProcess.start({ env })));
    return new Replicas(services, databaseUrl, await createConnection({ uri: databaseUrl, timezone: 'Z' }));
  }

  async stop(): Promise<void> {
    await this.sql.end();
    await Promise.all(this.services.map((service) => service.stop()));
    await MariaDbDatabases.shared().drop(this.databaseUrl);
  }

  /** Runs the command line with the same database. */
  async cli(...args: string[]): Promise<any> {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [resolve(ROOT, 'dist/src/cli.js'), ...args, '--json'],
      {
        env: { PATH: process.env.PATH, ...testSettings, DATABASE_URL: this.databaseUrl },
      },
    );
    return JSON.parse(stdout);
  }

  /** Sends a request to the replica with the number `n` (modulo the number of replicas). */
  async post(path: string, body: unknown, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    return this.fetch(path, n, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  async get(path: string, n = 0, headers: Record<string, string> = {}): Promise<Answer> {
    return this.fetch(path, n, { headers });
  }

  login(username: string, password: string, n = 0): Promise<Answer> {
    return this.post('/login', { username, password, captcha_token: captchaToken }, n);
  }

  async rows(statement: string, values: unknown[] = []): Promise<Record<string, any>[]> {
    return (await this.sql.query(statement, values))[0] as Record<string, any>[];
  }

  deadlocks(): Promise<number> {
    return MariaDbDatabases.shared().deadlocks(this.databaseUrl);
  }

  private async fetch(path: string, n: number, init: RequestInit): Promise<Answer> {
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
