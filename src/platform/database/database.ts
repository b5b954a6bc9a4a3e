import type { PoolConnection, ResultSetHeader } from 'mysql2';
import { DataSource, type EntityManager, type QueryResult, type QueryRunner } from 'typeorm';
import { DatabaseWaits } from './database-waits';
import { mayPrepareInTransaction } from './galera-node';
import { mysqlDriver } from './mysql-pool';
import { canBeReleased } from './mysql-session';
import { bindable, Sql, type SqlValue, type Written } from './sql';
import { repeated } from './repeated';
import { asDomainError, assertConnected, runTransaction } from './run-transaction';
import { isStoreFailure } from './store-failure';

/** One transaction: its statements and TypeORM repositories are committed or rolled back together. */
export abstract class Transaction extends Sql {
  abstract readonly manager: EntityManager;
  private readonly commitHooks: (() => void)[] = [];

  together<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return work(this);
  }

  afterCommit(work: () => void): void {
    this.commitHooks.push(work);
  }

  /** Only the code that commits calls it. */
  committed(): void {
    for (const work of this.commitHooks) work();
  }
}

/** The database. A single statement commits by itself. */
export abstract class Database extends Sql {
  /**
   * Runs the work in one transaction. After a deadlock or a lost certification, which roll everything back, the work runs
   * again. The work must therefore change nothing but rows.
   * @throws DomainError COMMON_503001 if the database cannot answer
   */
  abstract transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;

  together<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.transaction(work);
  }

  afterCommit(work: () => void): void {
    work();
  }

  static over(dataSource: DataSource, waits = new DatabaseWaits()): Database {
    const Kind = dataSource.options.type === 'mysql' ? MysqlDatabase : SqliteDatabase;
    return new Kind(dataSource, waits);
  }
}

/**
 * Prepared statements directly on the connections of the driver. The layer of TypeORM would cost time (ADR 0003).
 */
class MysqlDatabase extends Database {
  constructor(
    private readonly dataSource: DataSource,
    private readonly waits: DatabaseWaits,
  ) {
    super();
  }

  rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return repeated(
      () => this.withConnection((connection) => execute<Row[]>(connection, statement, values)),
      this.waits,
    );
  }

  async written(statement: string, values: readonly SqlValue[] = []): Promise<Written> {
    return resultOf(
      await repeated(
        () => this.withConnection((connection) => execute<ResultSetHeader>(connection, statement, values)),
        this.waits,
      ),
    );
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return runTransaction(this.dataSource, this.waits, (runner) => new MysqlTransaction(runner), work);
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
    return this.run<Row[]>(statement, values);
  }

  async written(statement: string, values: readonly SqlValue[] = []): Promise<Written> {
    return resultOf(await this.run<ResultSetHeader>(statement, values));
  }

  private async run<Result>(statement: string, values: readonly SqlValue[]): Promise<Result> {
    const connection = (await this.runner.connect()) as PoolConnection;
    return execute<Result>(connection, statement, values, mayPrepareInTransaction(connection) ? 'execute' : 'query');
  }
}

class SqliteDatabase extends Database {
  constructor(
    private readonly dataSource: DataSource,
    private readonly waits: DatabaseWaits,
  ) {
    super();
  }

  async rows<Row>(statement: string, values: readonly SqlValue[] = []): Promise<Row[]> {
    return (await this.run(statement, values)).records as Row[];
  }

  async written(statement: string, values: readonly SqlValue[] = []): Promise<Written> {
    return sqliteResult(await repeated(() => this.run(statement, values), this.waits));
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return runTransaction(this.dataSource, this.waits, (runner) => new SqliteTransaction(runner), work);
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

  async written(statement: string, values: readonly SqlValue[] = []): Promise<Written> {
    return sqliteResult(await this.runner.query(statement, bindable(values), true));
  }
}

const resultOf = ({ affectedRows, insertId }: ResultSetHeader): Written => ({ affected: affectedRows, key: insertId });

/** TypeORM returns the key of the last inserted row of the connection as `raw`. */
const sqliteResult = ({ affected = 0, raw }: QueryResult): Written => ({ affected, key: Number(raw) });

function execute<Result>(
  connection: PoolConnection,
  sql: string,
  values: readonly SqlValue[],
  method: 'execute' | 'query' = 'execute',
): Promise<Result> {
  return new Promise((resolve, reject) => {
    connection[method]({ sql, values: bindable(values) }, (error, result) => {
      if (error) reject(error);
      else resolve(result as Result);
    });
  });
}

function dismiss(connection: PoolConnection | undefined, error: unknown): void {
  if (isStoreFailure(error) && !canBeReleased(error)) connection?.destroy();
  else connection?.release();
}
