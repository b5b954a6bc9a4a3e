import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { createConnection, type Connection } from 'mysql2/promise';

const PLAIN_NAME = /^\w{1,64}$/;

/** Creates and removes databases on a running MariaDB, each empty and known to one test only. */
export class MariaDbDatabases {
  /** `url`: `mysql://user:password@host:port` of an account that may do everything; `logFile`: the server's error log. */
  constructor(
    readonly url: string,
    readonly logFile?: string,
  ) {}

  /** Those of the one server that all tests of a run share. */
  static shared(): MariaDbDatabases {
    const { TEST_MARIADB_URL: url, TEST_MARIADB_LOG: logFile } = process.env;
    if (!url) throw new Error('TEST_MARIADB_URL is not set: run this test in a jest project that starts MariaDB');
    return new MariaDbDatabases(url, logFile);
  }

  /** Creates an empty utf8mb4 database, in place of one of that name, and gives its `mysql://` URL. */
  async freshDatabase(name = `test_${randomBytes(8).toString('hex')}`): Promise<string> {
    await this.drop(name);
    await this.run(`CREATE DATABASE \`${name}\` CHARACTER SET utf8mb4`);
    return this.urlOf(name);
  }

  /** Removes a database, given by its name or by the URL that `freshDatabase` gave. */
  async drop(nameOrUrl: string): Promise<void> {
    await this.run(`DROP DATABASE IF EXISTS \`${databaseName(nameOrUrl)}\``);
  }

  /**
   * How many deadlocks the server logged in which a table of this database (name or URL) took part.
   * Fails when the log is not known: a test that counts on it must not pass unseen.
   */
  async deadlocks(nameOrUrl: string): Promise<number> {
    if (this.logFile === undefined) throw new Error('TEST_MARIADB_LOG is not set: deadlocks cannot be counted');
    const [, ...reports] = (await readFile(this.logFile, 'utf8')).split('Transactions deadlock detected');
    return reports.filter((report) => report.includes(`\`${databaseName(nameOrUrl)}\`.`)).length;
  }

  /** Runs one statement as the all-powerful account. */
  async run(statement: string): Promise<unknown> {
    let connection: Connection | undefined;
    try {
      connection = await createConnection({ uri: this.url, connectTimeout: 5_000 });
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
  if (!PLAIN_NAME.test(name)) throw new Error(`not a plain database name: ${name}`);
  return name;
}
