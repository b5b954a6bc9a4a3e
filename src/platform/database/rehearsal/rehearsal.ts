import { randomUUID } from 'node:crypto';
import { DataSource, MigrationExecutor } from 'typeorm';
import { Columns } from '../../../../migrations/columns';
import type { RepeatableMigration } from '../../../../migrations/repeatable';
import { storeCode } from '../store-failure';
import { migrationOptions } from '../typeorm-options';
import { type Change, watchChanges } from './schema-changes';

/** The account may not create a schema, or the server takes no writes. */
const mayNotCreate = new Set([
  'ER_DBACCESS_DENIED_ERROR',
  'ER_ACCESS_DENIED_ERROR',
  'ER_SPECIFIC_ACCESS_DENIED_ERROR',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
]);

/** Of the schemas that a rehearsal creates. An administrator may grant an account these alone. */
export const scratchPrefix = 'upgrade_check_';

/**
 * Runs the pending migrations on empty copies of the tables, in a schema that is dropped afterwards, or for SQLite in memory. So the
 * server itself says how it makes each change. The tables of the service are only read.
 * @param live reads the database of the service
 * @returns undefined when the account may not create a schema
 */
export async function rehearse(databaseUrl: string, live: DataSource): Promise<readonly Change[] | undefined> {
  return live.options.type === 'mysql' ? inScratchSchema(databaseUrl, live) : inMemory(live);
}

async function inScratchSchema(databaseUrl: string, live: DataSource): Promise<readonly Change[] | undefined> {
  const scratch = scratchPrefix + randomUUID().slice(0, 8);
  const owner = await new DataSource(migrationOptions(databaseUrl)).initialize();
  try {
    await owner.query(`CREATE DATABASE ${scratch} CHARACTER SET utf8mb4`);
    try {
      for (const table of await ownTables(live)) {
        await owner.query(`CREATE TABLE ${scratch}.\`${table}\` LIKE \`${table}\``);
        if (table === ledger) await owner.query(`INSERT INTO ${scratch}.${ledger} SELECT * FROM ${ledger}`);
      }
      const version = await live.query<{ version: string }[]>('SELECT VERSION() AS version');
      const server = /mariadb/i.test(version[0]?.version ?? '') ? 'MariaDB' : 'MySQL';
      const url = Object.assign(new URL(databaseUrl), { pathname: `/${scratch}` }).toString();
      return await watchedRun(await new DataSource(migrationOptions(url)).initialize(), 'each', server);
    } finally {
      await owner.query(`DROP DATABASE ${scratch}`);
    }
  } catch (error) {
    if (!mayNotCreate.has(storeCode(error))) throw error;
    return undefined;
  } finally {
    await owner.destroy();
  }
}

async function inMemory(live: DataSource): Promise<readonly Change[]> {
  const copy = await new DataSource(migrationOptions('sqlite::memory:')).initialize();
  const parts = await live.query<{ sql: string }[]>(
    `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type = 'table' DESC`,
  );
  for (const { sql } of parts) await copy.query(sql);
  const run = await live.query<{ timestamp: number; name: string }[]>(`SELECT timestamp, name FROM migrations`);
  for (const { timestamp, name } of run) {
    await copy.query(`INSERT INTO migrations (timestamp, name) VALUES (?, ?)`, [timestamp, name]);
  }
  return watchedRun(copy, 'all', undefined);
}

/** Closes the data source. */
async function watchedRun(
  source: DataSource,
  transaction: 'each' | 'all',
  server: 'MariaDB' | 'MySQL' | undefined,
): Promise<readonly Change[]> {
  const changes: Change[] = [];
  const runner = source.createQueryRunner();
  try {
    watchChanges(runner, server, (change) => void changes.push(change));
    const executor = new MigrationExecutor(source, runner);
    executor.transaction = transaction === 'all' ? 'none' : 'each';
    await executor.executePendingMigrations();
    return changes;
  } finally {
    await runner.release();
    await source.destroy();
  }
}

const ledger = 'migrations';

/** The tables of the migrations that have run, and their list. */
async function ownTables(live: DataSource): Promise<string[]> {
  const runner = live.createQueryRunner();
  try {
    const found = (await runner.query(
      `SELECT TABLE_NAME AS name FROM information_schema.TABLES
       WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE'`,
    )) as { name: string }[];
    const columns = new Columns(runner);
    const known = (live.migrations as RepeatableMigration[]).flatMap((one) => one.tables?.(columns) ?? []);
    const names = new Set([ledger, ...known.map(({ name }) => name)]);
    return found.map(({ name }) => name).filter((name) => names.has(name));
  } finally {
    await runner.release();
  }
}
