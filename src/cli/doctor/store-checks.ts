import { DataSource } from 'typeorm';
import type { AppConfig } from '../../platform/config/app-config';
import { pendingMigrations } from '../../platform/database/migrator';
import { storeCode } from '../../platform/database/store-failure';
import { typeormOptions } from '../../platform/database/typeorm-options';
import { type Finding, finding } from './finding';

/** On a connection of its own, because the reason of a failure is what the operator asks for. */
export async function checkStore(config: AppConfig): Promise<[database: Finding, migrations: Finding]> {
  const dataSource = new DataSource(typeormOptions(config.database.url, 1));
  const explain = (error: unknown) => `cannot be reached (${storeCode(error) || (error as Error).name})`;
  const database = await finding('database', () => greet(dataSource), explain);
  try {
    if (database.status !== 'ok')
      return [database, { check: 'migrations', status: 'skipped', text: 'needs the database' }];
    return [database, await finding('migrations', () => compare(dataSource), explain)];
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

async function compare(dataSource: DataSource): Promise<['ok' | 'problem', string]> {
  const pending = await pendingMigrations(dataSource);
  return pending.length === 0 ? ['ok', 'current'] : ['problem', `pending: ${pending.join(', ')}; run migrate`];
}
