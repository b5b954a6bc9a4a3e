import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { hostFor } from './choose-host';
import { freePort } from './free-port';
import { MariaDbDatabases } from './mariadb-databases';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { ServerProcess } from './server-process';

// These options make MariaDB faster without changing the meaning of statements. A commit still survives `kill`, because
// the kernel keeps written data. A server that knows no `debug-no-sync` starts without it.
export const QUICK = [
  '--innodb-flush-log-at-trx-commit=2',
  '--innodb-flush-method=nosync',
  '--innodb-doublewrite=0',
  '--innodb-fast-shutdown=2',
  '--performance-schema=OFF',
  '--loose-debug-no-sync',
  '--skip-log-bin',
  '--skip-name-resolve',
];

export const AS_ROOT = process.getuid?.() === 0 ? ['--user=root'] : [];

/** The options of mariadb-install-db, without the data folder. */
export const INSTALL = [
  '--no-defaults',
  ...AS_ROOT,
  '--auth-root-authentication-method=normal',
  '--skip-test-db',
  '--skip-name-resolve',
];

/** A private, empty MariaDB on a free port of 127.0.0.1. It logs every deadlock. */
export class MariaDb extends PrivateServer {
  private constructor(
    server: ServerProcess,
    private readonly databases: MariaDbDatabases,
    readonly logFile: string,
  ) {
    super(server);
  }

  /** @param settings further options of mariadbd, each as `--name=value` */
  static async start(settings: string[] = []): Promise<MariaDb> {
    return inPrivateDirectory('mariadb', (directory) => MariaDb.startIn(directory, settings));
  }

  /** `mysql://user:password@127.0.0.1:port` of an account with all privileges. */
  get url(): string {
    return this.databases.url;
  }

  async freshDatabase(name?: string): Promise<string> {
    return this.databases.freshDatabase(name);
  }

  async drop(nameOrUrl: string): Promise<void> {
    return this.databases.drop(nameOrUrl);
  }

  async deadlocks(nameOrUrl: string): Promise<string[]> {
    return this.databases.deadlocks(nameOrUrl);
  }

  private static async startIn(directory: string, settings: string[]): Promise<MariaDb> {
    const port = await freePort();
    const host = hostFor('mariadbd', directory, [port]);
    const password = randomBytes(16).toString('hex');
    const logFile = join(directory, 'error.log');
    const databases = new MariaDbDatabases(`mysql://tester:${password}@127.0.0.1:${port}`, logFile);
    const data = `--datadir=${join(directory, 'data')}`;
    // A server that starts deletes the temporary tables in this folder, also those of other servers.
    const tmpdir = `--tmpdir=${directory}`;
    await host.prepare('mariadb-install-db', [...INSTALL, data, tmpdir]);
    // With a binary log, the account of this server must not reach a replica, which has one with another password.
    const init = `SET SESSION sql_log_bin = 0;\n${accounts(password)}`;
    await writeFile(join(directory, 'init.sql'), init, { mode: 0o600 });
    const server = await ServerProcess.start({
      program: 'mariadbd',
      args: [
        '--no-defaults',
        data,
        tmpdir,
        ...AS_ROOT,
        `--port=${port}`,
        `--bind-address=${host.listenAddress}`,
        `--socket=${join(directory, 'mariadb.sock')}`,
        `--pid-file=${join(directory, 'mariadb.pid')}`,
        `--init-file=${join(directory, 'init.sql')}`,
        `--log-error=${logFile}`,
        '--innodb-print-all-deadlocks=ON',
        '--max-connections=400',
        '--character-set-server=utf8mb4',
        ...QUICK,
        // A new table is then no new file, so migrations are quicker.
        '--skip-innodb-file-per-table',
        ...settings,
      ],
      host,
      directory,
      log: logFile,
      ready: () => databases.run('SELECT 1'),
    });
    return new MariaDb(server, databases, logFile);
  }
}

/** Creates the account of the tests and deletes those without a password. It must be repeatable: each start runs it. */
export function accounts(password: string): string {
  return [
    `CREATE OR REPLACE USER tester@'%' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO tester@'%' WITH GRANT OPTION;`,
    `DELETE FROM mysql.global_priv WHERE User IN ('root', '');`,
    'FLUSH PRIVILEGES;',
    '',
  ].join('\n');
}
