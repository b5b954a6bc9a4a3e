import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MariaDbDatabases } from './servers/mariadb-databases';

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Creates an empty database: SQLite or MariaDB, as the jest project says (`__DATABASE__`). */
export async function freshDatabase(): Promise<TestDatabase> {
  if (typeof __DATABASE__ !== 'undefined' && __DATABASE__ === 'sqlite') {
    const directory = await mkdtemp(join(tmpdir(), 'database-'));
    return {
      url: `sqlite:${join(directory, 'auth.sqlite')}`,
      drop: () => rm(directory, { recursive: true, force: true }),
    };
  }
  const databases = MariaDbDatabases.shared();
  const url = await databases.freshDatabase();
  return { url, drop: () => databases.drop(url) };
}
