import { MariaDb } from './mariadb';

declare global {
  // Jest loads setup and teardown as separate modules of its main process. They share only global variables.
  var sharedMariaDb: MariaDb | undefined;
}

/**
 * Starts the MariaDB that all tests of a run share, and sets `TEST_MARIADB_URL` and `TEST_MARIADB_LOG` for them. If
 * `TEST_MARIADB_URL` is set already, the tests use that server.
 */
export default async function startSharedMariaDb(): Promise<void> {
  if (process.env.TEST_MARIADB_URL) return;
  globalThis.sharedMariaDb = await MariaDb.start();
  process.env.TEST_MARIADB_URL = globalThis.sharedMariaDb.url;
  process.env.TEST_MARIADB_LOG = globalThis.sharedMariaDb.logFile;
}
