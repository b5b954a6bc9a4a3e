import type { PoolConnection, ResultSetHeader } from 'mysql2';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import { mysqlDriver } from './mysql-pool';
import { canBeReleased } from './mysql-session';
import { bindable, Sql, type SqlValue } from './sql';
import { repeated } from './repeated';
import { abandonedCode, isRepeatable, isStoreFailure, storeCode, storeUnavailable } from './store-failure';

/** One transaction: its statements and TypeORM repositories are committed or rolled back together. */
export abstract class Transaction extends Sql {
  abstract readonly manager: EntityManager;
}

/** The database. A single statement commits by itself. */
export abstract class Database extends Sql {
  /**
   * Runs the work in one transaction. After a deadlock, which rolls everything back, the work runs again. The work must
   * therefore change nothing but rows.
   * @throws DomainError COMMON_503001 if the database cannot answer
   */
  abstract transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  static over(dataSource: DataSource): Database {
    return dataSource.options.type === 'mysql' ? new MysqlDatabase(dataSource) : new SqliteDatabase(dataSource);
  }
}

/**
 * Prepared statements directly on the connections of the driver. The layer of TypeORM would cost time (ADR 0003).
 */
class MysqlDatabase extends Database {
  constructor(private readonly dataSource: DataSource) {
    super();
  }

  rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return this.withConnection((connection) => execute<Row[]>(connection, statement, values));
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    const result = await repeated(() =>
      this.withConnection((connection) => execute<ResultSetHeader>(connection, statement, values)),
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
    return execute<Row[]>(await this.connection(), statement, values);
  }

  async affected(statement: string, values: readonly SqlValue[] = []): Promise<number> {
    return (await execute<ResultSetHeader>(await this.connection(), statement, values)).affectedRows;
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

function execute<Result>(connection: PoolConnection, sql: string, values: readonly SqlValue[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    connection.execute({ sql, values: bindable(values) }, (error, result) => {
      if (error) reject(error);
      else resolve(result as Result);
    });
  });
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

/** If ROLLBACK fails too, the connection is destroyed, and the server rolls the transaction back. */
async function rollBack(runner: QueryRunner, error: unknown): Promise<void> {
  if (!runner.isTransactionActive) return;
  // The server still runs the statement. `boundStatements` rolls back when the late answer has come.
  if (storeCode(error) === abandonedCode) return;
  try {
    if (isStoreFailure(error) && !canBeReleased(error) && !isRepeatable(error)) throw error;
    await runner.rollbackTransaction();
  } catch {
    const connection = (await runner.connect().catch(() => undefined)) as { destroy?: () => void } | undefined;
    if (connection?.destroy === undefined) await runner.rollbackTransaction().catch(() => undefined);
    else connection.destroy();
  }
}

function dismiss(connection: PoolConnection | undefined, error: unknown): void {
  if (isStoreFailure(error) && !canBeReleased(error)) connection?.destroy();
  else connection?.release();
}

function assertConnected(dataSource: DataSource): void {
  if (!dataSource.isInitialized) throw storeUnavailable(new Error('the database is not connected'));
}

function asDomainError(error: unknown): unknown {
  return isStoreFailure(error) ? storeUnavailable(error) : error;
}
