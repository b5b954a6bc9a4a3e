import { DataSource } from 'typeorm';
import { type Finding, finding } from '../../admin/connection-checks';
import type { AppConfig } from '../../settings/app-config';
import { pendingMigrations } from '../../platform/database/migrator';
import { storeReason } from '../../platform/database/store-reason';
import { typeormOptions } from '../../platform/database/typeorm-options';

/** Uses its own connection, because the operator needs the reason of a failure. */
export async function checkStore(config: AppConfig): Promise<[database: Finding, migrations: Finding]> {
  const dataSource = new DataSource(typeormOptions(config.database.url, 1));
  const database = await finding('database', () => greet(dataSource), storeReason);
  try {
    if (database.status !== 'ok')
      return [database, { check: 'migrations', status: 'skipped', text: 'needs the database' }];
    return [database, await finding('migrations', () => compare(dataSource), storeReason)];
  } finally {
    if (dataSource.isInitialized) await dataSource.destroy();
  }
}

async function greet(dataSource: DataSource): Promise<['ok', string]> {
  await dataSource.initialize();
  const mysql = dataSource.options.type === 'mysql';
  const begun = performance.now();
  const rows: { version: string }[] = await dataSource.query(
    mysql ? 'SELECT VERSION() AS version' : 'SELECT sqlite_version() AS version',
  );
  const took = Math.max(1, Math.round(performance.now() - begun));
  return ['ok', `${mysql ? 'MySQL' : 'SQLite'} ${rows[0]?.version} answers in ${took} ms`];
}

/** Tells a new database, and one of an earlier version, from a failure. */
async function compare(dataSource: DataSource): Promise<['ok' | 'pending', string]> {
  const pending = await pendingMigrations(dataSource);
  if (pending.length === 0) return ['ok', 'current'];
  if (pending.length === dataSource.migrations.length) return ['pending', 'the database is new: run migrate'];
  return ['pending', `the database is of an earlier version: run migrate (${pending.join(', ')})`];
}
