import { Injectable, Logger } from '@nestjs/common';
import { createConnection } from 'mysql2';
import { DataSource } from 'typeorm';
import { DatabaseSettings, rereadDatabaseUrl } from '../config/database-settings';
import { parseMysqlUrl, verifiableSocket } from './mysql-address';
import { mysqlDriver } from './mysql-pool';
import { storeCode } from './store-failure';
import { isRefusedLogin } from './store-reason';
import { connectTimeoutMs } from './time-limits';

/** How often readiness opens a connection of its own. */
const lookEveryMs = 10_000;
const lookAgainMs = 1000;

/**
 * Whether the server lets new connections in. The connections of the pool do not tell: they live on after a change of the
 * password, and only the next one is refused. A refusal reads the file of `DATABASE_URL_FILE` again, so that a rotated
 * secret needs no restart.
 */
@Injectable()
export class NewConnections {
  private readonly logger = new Logger('database');
  /** The URL that new connections use. */
  url: string;
  private refusal: string | undefined;
  private unusable: string | undefined;
  private lookedAt = performance.now();

  constructor(
    private readonly settings: DatabaseSettings,
    private readonly dataSource: DataSource,
  ) {
    this.url = settings.url;
  }

  /** A new connection was made. */
  accepted(): void {
    if (this.refusal !== undefined) this.logger.log('the database accepts new connections again');
    this.refusal = undefined;
  }

  /**
   * A new connection failed.
   * @param url the value of `url` before the attempt: several attempts may fail at once, and the first one reads the file
   * @returns whether the caller should try again, because the file has another account now
   */
  failed(error: unknown, url: string): boolean {
    if (!isRefusedLogin(error)) return false;
    if (url !== this.url || this.renewed()) return true;
    const code = storeCode(error);
    // The code only, because the message of the driver quotes the user name.
    if (code !== this.refusal) {
      this.logger.error(
        { code },
        'the database refuses new connections of this account: not ready until it accepts them',
      );
    }
    this.refusal = code;
    return false;
  }

  /**
   * For readiness: opens a connection every ten seconds, and every second after a refusal. Another failure than a refusal
   * is no finding: the pool, which works, would show an outage.
   */
  async allowed(): Promise<boolean> {
    const every = this.refusal === undefined ? lookEveryMs : lookAgainMs;
    if (this.dataSource.options.type === 'mysql' && performance.now() - this.lookedAt >= every) {
      this.lookedAt = performance.now();
      const { url } = this;
      await this.open().catch(async (error: unknown) => {
        if (this.failed(error, url)) await this.open().catch((again: unknown) => this.failed(again, this.url));
      });
    }
    return this.refusal === undefined;
  }

  private open(): Promise<void> {
    const { username: user, ...address } = parseMysqlUrl(this.url);
    const stream = verifiableSocket(address.host, address.port);
    return new Promise((resolve, reject) => {
      const connection = createConnection({ ...address, user, connectTimeout: connectTimeoutMs, stream });
      connection.on('error', reject);
      connection.connect((error) => {
        if (error) {
          connection.destroy();
          return reject(error);
        }
        connection.end(() => undefined);
        this.accepted();
        resolve();
      });
    });
  }

  /** Only the account, its password and TLS change. Two servers behind one pool would not see each other's rows. */
  private renewed(): boolean {
    const { urlFile } = this.settings;
    const url = urlFile === undefined ? undefined : rereadDatabaseUrl(urlFile);
    if (url === undefined || url === this.url) return false;
    const { username, password, ssl, ...server } = parseMysqlUrl(url);
    const former = parseMysqlUrl(this.url);
    if (server.host !== former.host || server.port !== former.port || server.database !== former.database) {
      if (url !== this.unusable) {
        this.logger.error('the file of DATABASE_URL names another server or schema: restart the service');
      }
      this.unusable = url;
      return false;
    }
    this.url = url;
    // Before the first connection, the pool is made from these options.
    Object.assign(this.dataSource.driver.options, { username, password, ssl });
    const pooled = mysqlDriver(this.dataSource).pool?.config.connectionConfig;
    if (pooled !== undefined) Object.assign(pooled, { user: username, password, ssl: ssl ?? false });
    this.logger.log('the file of DATABASE_URL has changed: new connections use it');
    return true;
  }
}
