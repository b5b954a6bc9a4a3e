import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { assertNoForeignTables } from './foreign-tables';
import { giveEachCallerItsOwnRunner } from './sqlite-runners';
import { storeCode } from './store-failure';
import { migrationOptions } from './typeorm-options';

/** A database that nobody has migrated has no such table, or another program's, with other columns. */
const withoutLedger = new Set(['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', 'SQLITE_ERROR']);

const lockName = 'authentication_service_migrations';

/**
 * Brings the database to the newest schema. Of several processes that start together one migrates; the others wait for
 * it and find nothing left to do (MySQL: a named lock; SQLite: the write lock of one transaction around everything).
 * A run that is cut off at any statement is made good by the next one (ADR 0017).
 * @throws ForeignTables before anything is changed.
 * @param patienceSeconds how long to wait for another process that migrates a MySQL database
 * @returns the names of the migrations that this process ran.
 */
export async function migrate(databaseUrl: string, patienceSeconds = 600): Promise<string[]> {
  const dataSource = new DataSource(migrationOptions(databaseUrl));
  await dataSource.initialize();
  if (dataSource.options.type !== 'mysql') giveEachCallerItsOwnRunner(dataSource);
  const runner = dataSource.createQueryRunner();
  try {
    return dataSource.options.type === 'mysql'
      ? await underNamedLock(runner, patienceSeconds)
      : await inOneTransaction(runner);
  } finally {
    await runner.release();
    await dataSource.destroy();
  }
}

/**
 * Names of the migrations that this program knows and the database has not had. A newer database has had them all:
 * roll-outs overlap. @throws where there is no store.
 */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const known = dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name);
  try {
    const rows: { name: string }[] = await dataSource.query('SELECT name FROM migrations');
    const run = new Set(rows.map((row) => row.name));
    return known.filter((name) => !run.has(name));
  } catch (error) {
    if (!withoutLedger.has(storeCode(error))) throw error;
    return known;
  }
}

async function underNamedLock(runner: QueryRunner, patienceSeconds: number): Promise<string[]> {
  const statement = `SELECT GET_LOCK('${lockName}', ${patienceSeconds}) AS got`;
  const rows = (await runner.query(statement)) as { got: unknown }[];
  if (Number(rows[0]?.got) !== 1) throw new Error('another process holds the migration lock');
  try {
    return await runPending(runner, 'each');
  } finally {
    await runner.query(`SELECT RELEASE_LOCK('${lockName}')`);
  }
}

async function inOneTransaction(runner: QueryRunner): Promise<string[]> {
  await runner.startTransaction();
  try {
    const names = await runPending(runner, 'none');
    await runner.commitTransaction();
    return names;
  } catch (error) {
    await runner.rollbackTransaction();
    throw error;
  }
}

async function runPending(runner: QueryRunner, transaction: 'each' | 'none'): Promise<string[]> {
  await assertNoForeignTables(runner);
  const executor = new MigrationExecutor(runner.dataSource, runner);
  executor.transaction = transaction;
  return (await executor.executePendingMigrations()).map((migration) => migration.name);
}
