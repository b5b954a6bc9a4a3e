import { type QueryRunner, Table, TableColumn, type TableColumnOptions } from 'typeorm';

/** The comment of each table that a migration creates. MySQL writes it together with the table: see ADR 0017. */
export const madeByUs = 'portal-authentication';

/**
 * The column types of all tables, for MySQL, MariaDB and SQLite. The schema builder of TypeORM writes the statements;
 * this class only handles the types that differ between the databases.
 */
export class Columns {
  private readonly mysql: boolean;

  constructor(private readonly runner: QueryRunner) {
    this.mysql = runner.dataSource.options.type === 'mysql';
  }

  uuid = (name: string, more: Partial<TableColumnOptions> = {}) => this.text(name, 36, more);

  text = (name: string, length: number, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
    name,
    type: 'varchar',
    length: String(length),
    ...more,
  });

  longText = (name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
    name,
    type: 'text',
    ...more,
  });

  count = (name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
    name,
    type: 'integer',
    default: 0,
    ...more,
  });

  long = (name: string): TableColumnOptions => ({ name, type: 'bigint', default: 0 });

  flag = (name: string): TableColumnOptions => ({ name, type: this.mysql ? 'tinyint' : 'boolean', default: 0 });

  /** A time in UTC with milliseconds. */
  time = (name: string, more: Partial<TableColumnOptions> = {}): TableColumnOptions => ({
    name,
    type: 'datetime',
    ...(this.mysql ? { precision: 3 } : {}),
    ...more,
  });

  serial = (name: string): TableColumnOptions => ({
    name,
    type: this.mysql ? 'bigint' : 'integer',
    isPrimary: true,
    isGenerated: true,
    generationStrategy: 'increment',
  });

  /** The collation is binary, so identifiers are compared byte by byte. SQLite does so by default. */
  table(name: string, columns: TableColumnOptions[], indices: { columns: string[]; unique?: boolean }[] = []): Table {
    return new Table({
      name,
      columns,
      indices: indices.map(({ columns: columnNames, unique }) => ({
        name: indexName(name, columnNames, unique === true),
        columnNames,
        isUnique: unique,
      })),
      ...(this.mysql
        ? { engine: `InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT '${madeByUs}'` }
        : {}),
    });
  }

  /** Creates the table with its indices in one statement, unless an interrupted run has already created it. */
  async create(table: Table): Promise<void> {
    await this.runner.createTable(table, true);
  }

  /** Adds the column, unless an interrupted run has already added it. */
  async add(table: string, column: TableColumnOptions): Promise<void> {
    if (await this.runner.hasColumn(table, column.name)) return;
    await this.runner.addColumn(table, new TableColumn(column));
  }

  /** Adds the index, with the name that `table` would give it, unless an interrupted run has already added it. */
  async addIndex(table: string, columnNames: string[], unique = false): Promise<void> {
    const name = indexName(table, columnNames, unique);
    if (await this.hasIndex(table, name)) return;
    // Plain SQL: TypeORM reads the whole table first, and cannot read one with a generated column (ADR 0025).
    await this.runner.query(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${name} ON ${table} (${columnNames.join(', ')})`);
  }

  /** Drops the index that `addIndex` has added, if there is one. */
  async dropIndex(table: string, columnNames: string[], unique = false): Promise<void> {
    const name = indexName(table, columnNames, unique);
    if (await this.hasIndex(table, name)) {
      await this.runner.query(`DROP INDEX ${name}${this.mysql ? ` ON ${table}` : ''}`);
    }
  }

  private async hasIndex(table: string, name: string): Promise<boolean> {
    const known = (await this.runner.query(
      this.mysql
        ? `SHOW INDEX FROM ${table} WHERE Key_name = '${name}'`
        : `SELECT name FROM sqlite_master WHERE type = 'index' AND name = '${name}'`,
    )) as unknown[];
    return known.length > 0;
  }
}

function indexName(table: string, columnNames: string[], unique: boolean): string {
  return `${unique ? 'uq' : 'ix'}_${table}_${columnNames.join('_')}`.slice(0, 64);
}
