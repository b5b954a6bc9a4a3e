import type { PoolConnection, ResultSetHeader } from 'mysql2';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { mysqlDriver, within } from './mysql-pool';
import { bindable, Sql, type SqlValue } from './sql';
import { isRepeatable, isStoreFailure, storeUnavailable } from './store-failure';

/** A unit of work: statements and TypeORM repositories on one connection, committed or rolled back together. */
export abstract class Transaction extends Sql {
  abstract readonly manager: EntityManager;
}

const attempts = 4;

/** The store: single statements commit by themselves, `transaction` runs a unit of work (§4.11 "one atomic unit"). */
export abstract class Database extends Sql {
  /**
   * Runs the work in one transaction. A deadlock or a lock wait rolls it back whole, and it runs again: the work must
   * change nothing but rows. @throws DomainError COMMON_503001 when the store cannot answer.
   */
  abstract transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  static over(dataSource: DataSource): Database {
    return dataSource.options.type === 'mysql' ? new MysqlDatabase(dataSource) : new SqliteDatabase(dataSource);
  }
}

/** Prepared statements on the driver's own connections: the hot path pays for no layer in between (ADR 0003). */
class MysqlDatabase extends Database {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.withConnection((connection) => execute<Row[]>(this.dataSource, connection, statement, values));
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    const result = await repeated(() =>
      this.withConnection((connection) => execute<ResultSetHeader>(this.dataSource, connection, statement, values)),
    );
    return result.affectedRows;
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return runTransaction(this.dataSource, (runner) => new MysqlTransaction(runner), work);
  }

  private async withConnection<T>(use: (connection: PoolConnection) => Promise<T>): Promise<T> {
    assertConnected(this.dataSource);
    let connection: PoolConnection | undefined;
    try {
      connection = await mysqlDriver(this.dataSource).obtainMasterConnection();
      const result = await use(connection);
      connection.release();
      return result;
    } catch (error) {
      dismiss(connection, error);
      throw asDomainError(error);
    }
  }
}

class MysqlTransaction extends Transaction {
  readonly manager: EntityManager;

  constructor(private readonly runner: QueryRunner) {
    super();
    this.manager = runner.manager;
  }

  async rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return execute<Row[]>(this.runner.dataSource, await this.connection(), statement, values);
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await execute<ResultSetHeader>(this.runner.dataSource, await this.connection(), statement, values))
      .affectedRows;
  }

  private connection(): Promise<PoolConnection> {
    return this.runner.connect() as Promise<PoolConnection>;
  }
}

class SqliteDatabase extends Database {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  async rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.run(statement, values)).records as Row[];
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await repeated(() => this.run(statement, values))).affected ?? 0;
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return runTransaction(this.dataSource, (runner) => new SqliteTransaction(runner), work);
  }

  private async run(statement: string, values: readonly SqlValue[]) {
    assertConnected(this.dataSource);
    try {
      return await this.dataSource.createQueryRunner().query(statement, bindable(values), true);
    } catch (error) {
      throw asDomainError(error);
    }
  }
}

class SqliteTransaction extends Transaction {
  readonly manager: EntityManager;

  constructor(private readonly runner: QueryRunner) {
    super();
    this.manager = runner.manager;
  }

  async rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.runner.query(statement, bindable(values), true)).records as Row[];
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await this.runner.query(statement, bindable(values), true)).affected ?? 0;
  }
}

/** The driver's own time-out begins when a statement has been prepared: a server that is silent before is waited for. */
function execute<Result>(
  { options }: DataSource,
  connection: PoolConnection,
  sql: string,
  values: readonly SqlValue[],
): Promise<Result> {
  const answer = new Promise<Result>((resolve, reject) => {
    connection.execute({ sql, values: bindable(values) }, (error, result) => {
      if (error) reject(error);
      else resolve(result as Result);
    });
  });
  const limit = options.maxQueryExecutionTime;
  return limit === undefined ? answer : within(limit, answer, 'the database did not answer in time');
}

async function runTransaction<T>(
  dataSource: DataSource,
  open: (runner: QueryRunner) => Transaction,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return repeated(async () => {
    assertConnected(dataSource);
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const result = await work(open(runner));
      await runner.commitTransaction();
      return result;
    } catch (error) {
      await rollBack(runner, error);
      throw asDomainError(error);
    } finally {
      if (!runner.isReleased) await runner.release();
    }
  });
}

/** A connection on which even ROLLBACK fails is thrown away; the server then rolls back by itself. */
async function rollBack(runner: QueryRunner, error: unknown): Promise<void> {
  if (!runner.isTransactionActive) return;
  try {
    if (isStoreFailure(error) && !isRepeatable(error)) throw error;
    await runner.rollbackTransaction();
  } catch {
    const connection = (await runner.connect().catch(() => undefined)) as { destroy?: () => void } | undefined;
    if (connection?.destroy === undefined) await runner.rollbackTransaction().catch(() => undefined);
    else connection.destroy();
  }
}

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined;
      if (attempt === attempts || !isRepeatable(cause)) throw error;
    }
  }
}

/** After a time-out the answer of the old statement may still come: such a connection is of no use to the next caller. */
function dismiss(connection: PoolConnection | undefined, error: unknown): void {
  if (isStoreFailure(error) && !isRepeatable(error)) connection?.destroy();
  else connection?.release();
}

function assertConnected(dataSource: DataSource): void {
  if (!dataSource.isInitialized) throw storeUnavailable(new Error('the database is not connected'));
}

function asDomainError(error: unknown): unknown {
  return isStoreFailure(error) ? storeUnavailable(error) : error;
}
