import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import type { AppConfig } from '../../settings/app-config';
import { clusterOf } from '../../platform/database/cluster';
import type { Database } from '../../platform/database/database';
import type { LoginJournal } from '../../audit/login-journal';
import { pendingMigrations } from '../../platform/database/migrator';
import { storeCode } from '../../platform/database/store-failure';
import { storeReason } from '../../platform/database/store-reason';
import { typeormOptions } from '../../platform/database/typeorm-options';
import { rehearseRow, rolledBack } from '../../platform/database/writability';
import { rehearseWrite } from '../../users/users.repository';
import { type Finding, finding } from './finding';

/**
 * Makes the writes of a login and rolls them back, to find a read-only primary, an account that may only read, and a full
 * disk.
 * @param takesWrites the check of readiness, which also finds a read-only primary for an administrative account
 */
export function checkWrites(
  database: Database,
  journal: LoginJournal,
  takesWrites: () => Promise<boolean>,
): Promise<Finding> {
  return finding(
    'writes',
    async () => {
      if (!(await takesWrites())) return ['problem', 'the database is read-only'];
      await rolledBack(database, async (tx) => {
        await rehearseWrite(tx);
        await rehearseRow(tx, `doctor-${randomUUID()}`);
        await journal.rehearse(tx);
      });
      return ['ok', 'insert, update and delete, rolled back'];
    },
    (error) => `the database ${storeReason((error as Error).cause ?? error)}`,
  );
}

/** Without causal reads, a token that was revoked through one node is accepted by another one for a moment (ADR 0029). */
export function checkCluster(config: AppConfig, database: Database): Promise<Finding> {
  return finding(
    'cluster',
    async () => {
      const sqlite = config.database.url.startsWith('sqlite:');
      const cluster = sqlite ? undefined : await clusterOf((statement) => database.rows(statement));
      if (cluster === undefined) return ['skipped', 'the database is a single server'];
      if (!cluster.causal) return ['problem', `${cluster.kind} without causal reads: ${cluster.setting} on each node`];
      return ['ok', `${cluster.kind} with causal reads`];
    },
    (error) => `no answer (${storeCode((error as Error).cause ?? error) || (error as Error).name})`,
  );
}

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
