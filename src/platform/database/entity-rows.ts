import type { FindOptionsOrder, FindOptionsWhere, ObjectLiteral, Repository } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity';
import type { Sql, SqlValue } from './sql';
import { isDuplicate } from './store-failure';

/** Columns and their values, by the names of the properties. `() => 'attempts + 1'` is an expression of SQL. */
export type Change<Row> = QueryDeepPartialEntity<Row>;

/**
 * The rows that a statement is about: all conditions must hold. `IsNull()`, `MoreThan()`, `In()`, … are those of TypeORM. A
 * null, which only input without a type can bring, equals nothing, as in SQL.
 */
export type Condition<Row> = { [P in keyof FindOptionsWhere<Row>]: Exclude<FindOptionsWhere<Row>[P], null> };

interface Selection<Row> {
  readonly order?: FindOptionsOrder<Row>;
  readonly limit?: number;
}

/**
 * The rows of one entity. TypeORM's repository makes the statements, with columns that the compiler checks, and `Sql` sends
 * them, with its time limits, transactions and spans (ADR 0003). The repository of a table wraps it in methods with
 * names. `save()` is not used: each write is one visible statement.
 */
export class EntityRows<Row extends ObjectLiteral> {
  private selected?: ColumnMetadata[];

  constructor(
    private readonly repository: Repository<Row>,
    private readonly database: Sql,
  ) {}

  /** @param sql a transaction to read in */
  async find(where: Condition<Row>, selection: Selection<Row> = {}, sql = this.database): Promise<Row[]> {
    const { order = {}, limit } = selection;
    const query = this.repository.createQueryBuilder('r').where(this.given(where));
    for (const [property, direction] of Object.entries(order)) query.addOrderBy(`r.${property}`, direction as 'ASC');
    const rows = await sql.rows<Record<string, unknown>>(...sent(query.limit(limit).getQueryAndParameters()));
    return rows.map((row) => this.read(row));
  }

  /** The list of a SELECT in plain SQL, whose rows `read` takes. @param alias of the table in the statement */
  columns(alias: string): string {
    return this.selectedColumns()
      .map(({ databaseName: name }) => `${alias}.${name} AS ${alias}_${name}`)
      .join(', ');
  }

  /** The drivers return times and flags in different types. @param alias as in `columns`; that of TypeORM's statements is `r` */
  read(row: Readonly<Record<string, unknown>>, alias = 'r'): Row {
    const { metadata, manager } = this.repository;
    const entity = metadata.create() as Record<string, unknown>;
    for (const column of this.selectedColumns()) {
      const value = row[`${alias}_${column.databaseName}`];
      entity[column.propertyName] = manager.connection.driver.prepareHydratedValue(value, column);
    }
    return entity as Row;
  }

  async findOne(where: Condition<Row>, sql = this.database): Promise<Row | null> {
    return (await this.find(where, { limit: 1 }, sql))[0] ?? null;
  }

  async count(where: Condition<Row>, sql = this.database): Promise<number> {
    const query = this.repository.createQueryBuilder('r').select('COUNT(*)', 'n').where(this.given(where));
    const row = await sql.row<{ n: number }>(...sent(query.getQueryAndParameters()));
    return Number(row?.n);
  }

  /** Inserts one row. Columns that are not given get the default of the table. @returns its generated key */
  insert(sql: Sql, row: Change<Row>): Promise<number> {
    const columns = Object.entries(row).flatMap(([column, value]) => (value === undefined ? [] : [column]));
    const query = this.repository.createQueryBuilder().insert().into(this.repository.target, columns).values(row);
    return sql.inserted(...sent(query.updateEntity(false).getQueryAndParameters()));
  }

  /** The change that adds 1 to a column, in the database. */
  incremented(property: keyof Row & string): Change<Row> {
    const column = this.repository.metadata.findColumnWithPropertyName(property)!.databaseName;
    return { [property]: () => `${column} + 1` } as Change<Row>;
  }

  /**
   * One insert that competes for a unique key.
   * @returns true if this caller won; false when the table has a row with this key
   */
  async added(sql: Sql, row: Change<Row>): Promise<boolean> {
    try {
      await this.insert(sql, row);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** @returns the number of matched rows */
  update(sql: Sql, where: Condition<Row>, change: Change<Row>): Promise<number> {
    return sql.affected(...this.updating(where, change));
  }

  /** One guarded write of at most one row. @returns true if this caller won */
  won(sql: Sql, where: Condition<Row>, change: Change<Row>): Promise<boolean> {
    return sql.won(...this.updating(where, change));
  }

  /** @returns the number of deleted rows */
  remove(sql: Sql, where: Condition<Row>): Promise<number> {
    const query = this.repository.createQueryBuilder().delete().where(this.given(where));
    return sql.affected(...sent(query.getQueryAndParameters()));
  }

  private updating(where: Condition<Row>, change: Change<Row>): [string, SqlValue[]] {
    const query = this.repository.createQueryBuilder().update().set(change).where(this.given(where));
    return sent(query.getQueryAndParameters());
  }

  /** A condition with undefined would be left out, and the statement would be about other rows. */
  private given(where: Condition<Row>): FindOptionsWhere<Row> {
    const conditions = Object.entries(where);
    if (conditions.length === 0) throw new TypeError('a statement about all rows of a table is not meant');
    for (const [column, value] of conditions) {
      if (value === undefined) throw new TypeError(`the condition of ${column} has no value`);
    }
    return where;
  }

  /** TypeORM knows them when it has connected. */
  private selectedColumns(): ColumnMetadata[] {
    return (this.selected ??= this.repository.metadata.columns.filter(({ isSelect }) => isSelect));
  }
}

const sent = ([text, values]: [string, unknown[]]): [string, SqlValue[]] => [text, values as SqlValue[]];
