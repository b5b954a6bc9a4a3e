import { MariaDb } from './mariadb';

declare global {
  // Setup and teardown are loaded as two modules of jest's main process; this is the only thing they share.
  var sharedMariaDb: MariaDb | undefined;
}

/** Starts the one MariaDB of this run and tells the tests by `TEST_MARIADB_URL` and `TEST_MARIADB_LOG`; one that is told already is used. */
export default async function startSharedMariaDb(): Promise<void> {
  if (process.env.TEST_MARIADB_URL) return;
  globalThis.sharedMariaDb = await MariaDb.start();
  process.env.TEST_MARIADB_URL = globalThis.sharedMariaDb.url;
  process.env.TEST_MARIADB_LOG = globalThis.sharedMariaDb.logFile;
}
