import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MariaDbDatabases } from './servers/mariadb-databases';
import { copyMigrated } from './servers/migrated';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database: SQLite or MariaDB, as the jest project says (`__DATABASE__`). */
export async function freshDatabase(): Promise<TestDatabase> {
  if (isSqlite()) return sqliteIn(await mkdtemp(join(tmpdir(), 'database-')));
  return onMariaDb((databases) => databases.freshDatabase());
}

/** Creates a database with the newest schema. It is quicker than an empty one for whoever would migrate it. */
export async function migratedDatabase(): Promise<TestDatabase> {
  if (!isSqlite()) return onMariaDb((databases) => databases.migratedDatabase());
  const directory = await mkdtemp(join(tmpdir(), 'database-'));
  await copyMigrated(join(directory, sqliteFile));
  return sqliteIn(directory);
}

const sqliteFile = 'auth.sqlite';
const isSqlite = () => typeof __DATABASE__ !== 'undefined' && __DATABASE__ === 'sqlite';

function sqliteIn(directory: string): TestDatabase {
  return {
    url: `sqlite:${join(directory, sqliteFile)}`,
    drop: () => rm(directory, { recursive: true, force: true }),
  };
}

async function onMariaDb(create: (databases: MariaDbDatabases) => Promise<string>): Promise<TestDatabase> {
  const databases = MariaDbDatabases.shared();
  const url = await create(databases);
  return { url, drop: () => databases.drop(url) };
}
