// A private MariaDB that is as durable as in production: every commit is on the disk before it is answered.
import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection } from 'mysql2/promise';
import { findProgram } from '../../test/support/servers/server-programs.mjs';
import { freePort, start, untilReady } from './children.mjs';

const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];

/**
 * @param {string} bufferPool large enough for all tables, so that the bench does not measure reads from the disk
 * @param {string[]} log the options of the binary log. Only a primary with replicas needs one.
 */
export async function startMariaDb(directory, bufferPool = '512M', log = ['--skip-log-bin']) {
  const program = findProgram('mariadbd');
  if (program === null) throw new Error('mariadbd is not installed (on Debian: apt-get install mariadb-server)');
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  const data = join(directory, 'data');
  const common = ['--no-defaults', `--datadir=${data}`, ...asRoot];
  await promisify(execFile)('mariadb-install-db', [
    ...common,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    '--skip-name-resolve',
  ]);
  const init = join(directory, 'init.sql');
  writeFileSync(
    init,
    `CREATE OR REPLACE USER bench@'%' IDENTIFIED BY '${password}';\nGRANT ALL ON *.* TO bench@'%';\n` +
      `DELETE FROM mysql.global_priv WHERE User IN ('root', '');\nFLUSH PRIVILEGES;\n`,
    { mode: 0o600 },
  );
  const child = start({
    name: 'mariadbd',
    command: program,
    args: [
      ...common,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(directory, 'db.sock')}`,
      `--pid-file=${join(directory, 'db.pid')}`,
      // When MariaDB starts, it deletes the temporary tables of all servers that use the same folder.
      `--tmpdir=${data}`,
      `--init-file=${init}`,
      '--innodb-flush-log-at-trx-commit=1',
      `--innodb-buffer-pool-size=${bufferPool}`,
      '--innodb-log-file-size=512M',
      '--max-connections=300',
      '--character-set-server=utf8mb4',
      '--performance-schema=OFF',
      ...log,
      '--skip-name-resolve',
    ],
    log: join(directory, 'mariadb.log'),
  });
  const address = { host: '127.0.0.1', port, user: 'bench', password };
  const run = async (statement, values, database) => {
    const connection = await createConnection({ ...address, database, multipleStatements: true });
    try {
      return (await connection.query(statement, values))[0];
    } finally {
      connection.destroy();
    }
  };
  await untilReady(child, () => run('SELECT 1'), { every: 50 });
  return { child, run, urlOf: (database) => `mysql://bench:${password}@127.0.0.1:${port}/${database}` };
}
