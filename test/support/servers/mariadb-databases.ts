import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { createConnection, type Connection } from 'mysql2/promise';
import { fillMigrated } from './migrated';

const PLAIN_NAME = /^\w{1,64}$/;

/** Creates and drops databases on a running MariaDB. Each test uses its own. */
export class MariaDbDatabases {
  /**
   * @param url `mysql://user:password@host:port` of an account with all privileges
   * @param logFile error log of the server
   */
  constructor(
    readonly url: string,
    readonly logFile?: string,
  ) {}

  /** Uses the server that all tests of a run share. */
  static shared(): MariaDbDatabases {
    const { TEST_MARIADB_URL: url, TEST_MARIADB_LOG: logFile } = process.env;
    if (!url) throw new Error('TEST_MARIADB_URL is not set: run this test in a jest project that starts MariaDB');
    return new MariaDbDatabases(url, logFile);
  }

  /** Creates an empty utf8mb4 database and returns its `mysql://` URL. An existing database of that name is dropped. */
  async freshDatabase(name = `test_${randomBytes(8).toString('hex')}`): Promise<string> {
    await this.drop(name);
    await this.run(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
    return this.urlOf(name);
  }

  /** Creates a database with the newest schema, and returns its `mysql://` URL. */
  async migratedDatabase(): Promise<string> {
    const url = await this.freshDatabase();
    await fillMigrated(url);
    return url;
  }

  /** Drops a database, given by its name or by its URL. */
  async drop(nameOrUrl: string): Promise<void> {
    await this.run(`DROP DATABASE IF EXISTS \`${databaseName(nameOrUrl)}\``);
  }

  /**
   * The reports of deadlocks in the server log that involve a table of this database (name or URL).
   * @throws Error when the log file is not known: returning none would let a test pass that has checked nothing
   */
  async deadlocks(nameOrUrl: string): Promise<string[]> {
    if (this.logFile === undefined) throw new Error('TEST_MARIADB_LOG is not set: deadlocks cannot be counted');
    const [, ...reports] = (await readFile(this.logFile, 'utf8')).split('Transactions deadlock detected');
    return reports.filter((report) => report.includes(`\`${databaseName(nameOrUrl)}\`.`));
  }

  /** Runs one statement with the account that has all privileges. */
  async run(statement: string): Promise<unknown> {
    let connection: Connection | undefined;
    try {
      connection = await createConnection({ uri: this.url, connectTimeout: 30_000 });
      return (await connection.query(statement))[0];
    } finally {
      connection?.destroy();
    }
  }

  private urlOf(name: string): string {
    return Object.assign(new URL(this.url), { pathname: `/${name}` }).toString();
  }
}

function databaseName(nameOrUrl: string): string {
  const name = nameOrUrl.includes('://') ? new URL(nameOrUrl).pathname.slice(1) : nameOrUrl;
  if (!PLAIN_NAME.test(name)) throw new Error(`a database name may only contain letters, digits and _: ${name}`);
  return name;
}
