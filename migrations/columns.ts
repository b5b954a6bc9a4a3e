import { type QueryRunner, Table, type TableColumnOptions } from 'typeorm';

/**
 * The column types of all tables, for MySQL, MariaDB and SQLite. The schema builder of TypeORM writes the statements;
 * this class only handles the types that differ between the databases.
 */
export class Columns {
  private readonly mysql: boolean;

  constructor(runner: QueryRunner) {
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
        name: `${unique === true ? 'uq' : 'ix'}_${name}_${columnNames.join('_')}`.slice(0, 64),
        columnNames,
        isUnique: unique,
      })),
      ...(this.mysql ? { engine: 'InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin' } : {}),
    });
  }
}
