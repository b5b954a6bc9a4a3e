import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { clusterOf } from './cluster';
import { assertNoForeignTables } from './foreign-tables';
import { giveEachCallerItsOwnRunner } from './sqlite-runners';
import { isRepeatable, storeCode } from './store-failure';
import { migrationOptions } from './typeorm-options';

/** Error codes when the table `migrations` does not exist, or belongs to another program and has other columns. */
const noMigrationsTable = new Set(['ER_NO_SUCH_TABLE', 'ER_BAD_FIELD_ERROR', 'SQLITE_ERROR']);

/** Error codes when a process that works through another node of a cluster has just made the same step, or makes it now. */
const madeMeanwhile = new Set([
  'ER_WARN_I_S_SKIPPED_TABLE',
  'ER_TABLE_DEF_CHANGED',
  'ER_TABLE_EXISTS_ERROR',
  'ER_DUP_FIELDNAME',
  'ER_DUP_KEYNAME',
  'ER_DUP_ENTRY',
  'ER_CANT_DROP_FIELD_OR_KEY',
  // The cluster has aborted the statement, because a schema change of another node goes before it.
  'ER_QUERY_INTERRUPTED',
]);
const attemptsInCluster = 60;
const pauseInClusterMs = 250;

/**
 * A change waits for transactions that have used the table, and each login waits behind the change. So it gives up after a second,
 * lets logins through, and tries again, for example until a backup has read the table (ADR 0046).
 */
const tableWaitSeconds = 1;
const pauseForLoginsMs = 2000;

const lockName = 'authentication_service_migrations';

/**
 * Brings the database to the newest schema. If several processes start together, one of them migrates. The others wait
 * and then find nothing to do (MySQL: a named lock; SQLite: the write lock of one transaction around everything). In a
 * cluster, processes that use different nodes work side by side (ADR 0029). After
 * a run that was killed at any statement, the next run completes the work (ADR 0017).
 * @param patienceSeconds how long to wait for another process that migrates a MySQL database
 * @returns the names of the migrations that this process ran; in a cluster also those that another one ran meanwhile
 * @throws ForeignTables before anything is changed
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
 * Names of the migrations that have not run. None is pending after a newer version has migrated the database, as in a
 * roll-out. @throws if the database does not answer
 */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const known = dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name);
  try {
    const rows: { name: string }[] = await dataSource.query('SELECT name FROM migrations');
    const run = new Set(rows.map((row) => row.name));
    return known.filter((name) => !run.has(name));
  } catch (error) {
    if (!noMigrationsTable.has(storeCode(error))) throw error;
    return known;
  }
}

async function underNamedLock(runner: QueryRunner, patienceSeconds: number): Promise<string[]> {
  const statement = `SELECT GET_LOCK('${lockName}', ${patienceSeconds}) AS got`;
  const rows = (await runner.query(statement)) as { got: unknown }[];
  if (Number(rows[0]?.got) !== 1)
    throw new Error(
      `another process has been migrating for ${patienceSeconds} s and holds the migration lock: try again later`,
    );
  try {
    const cluster = await clusterOf((query) => runner.query(query));
    return cluster === undefined ? await runBesideLogins(runner, patienceSeconds) : await runBesideOthers(runner);
  } finally {
    // If the connection is lost, the lock has ended with it. The error of the migration says more than that of this query.
    await runner.query(`SELECT RELEASE_LOCK('${lockName}')`).catch(() => undefined);
  }
}

/** @param patienceSeconds how long to try again, counted by the waits */
async function runBesideLogins(runner: QueryRunner, patienceSeconds: number): Promise<string[]> {
  const pending = await pendingMigrations(runner.dataSource);
  await runner.query(`SET SESSION lock_wait_timeout = ${tableWaitSeconds}`);
  for (let waited = 0; ; waited += tableWaitSeconds + pauseForLoginsMs / 1000) {
    try {
      await runPending(runner, 'each');
      return pending;
    } catch (error) {
      if (storeCode(error) !== 'ER_LOCK_WAIT_TIMEOUT' || waited >= patienceSeconds) throw error;
      await pause(pauseForLoginsMs);
    }
  }
}

/**
 * The named lock holds on one node only. The cluster runs each schema change on all nodes in the same order, so of two
 * processes that make the same step, the second one gets an error. It begins again, as after a kill, and finds the step
 * done (ADR 0017). Both processes list the migration, and one of the two rows is deleted.
 */
async function runBesideOthers(runner: QueryRunner): Promise<string[]> {
  const pending = await pendingMigrations(runner.dataSource);
  for (let attempt = 1; ; attempt++) {
    try {
      await runPending(runner, 'each');
      if (pending.length > 0) {
        await runner.query(
          `DELETE later FROM migrations later
           JOIN migrations earlier ON earlier.name = later.name AND earlier.id < later.id`,
        );
      }
      return pending;
    } catch (error) {
      const again = isRepeatable(error) || madeMeanwhile.has(storeCode(error));
      if (!again || attempt === attemptsInCluster) throw error;
      await pause(pauseInClusterMs);
    }
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
