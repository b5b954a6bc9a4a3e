import SqliteDatabase from 'better-sqlite3';
import { createConnection, type Connection } from 'mysql2';
import { sessionSettings } from './mysql-session';
import { parseMysqlUrl } from './mysql-address';

/** A value as the driver returns it: text, number, time, bytes or null. */
export type SourceValue = string | number | bigint | boolean | Date | Buffer | null;
export type SourceRow = Readonly<Record<string, SourceValue>>;

/**
 * Reads a large table on a connection of its own, row by row, so that the memory does not grow with the table. Other
 * connections can write meanwhile.
 */
export abstract class TableReader {
  static async open(databaseUrl: string): Promise<TableReader> {
    return databaseUrl.startsWith('sqlite:')
      ? new SqliteReader(databaseUrl.slice('sqlite:'.length))
      : MysqlReader.connect(databaseUrl);
  }

  /** The schema of the connection. Null for SQLite, which has one schema. */
  abstract schema(): Promise<string | null>;

  /** The columns of a table or view that the database user may read. Empty when there is none. */
  abstract columns(schema: string | null, table: string): Promise<string[]>;

  abstract quoted(identifier: string): string;

  abstract rows(statement: string): AsyncIterable<SourceRow> | Iterable<SourceRow>;

  /** Also ends a statement whose rows were not all read. */
  abstract close(): void;
}

class MysqlReader extends TableReader {
  private constructor(private readonly connection: Connection) {
    super();
  }

  static async connect(databaseUrl: string): Promise<MysqlReader> {
    const { username: user, ...address } = parseMysqlUrl(databaseUrl);
    const connection = createConnection({
      ...address,
      user,
      charset: 'utf8mb4',
      timezone: 'Z',
      supportBigNumbers: true,
      bigNumberStrings: true,
      connectTimeout: 2500,
      enableKeepAlive: true,
      typeCast: (field, next) => (field.type === 'BIT' ? bitsOf(field.buffer()) : next()),
    });
    // An error between two statements is reported by the next statement.
    connection.on('error', () => undefined);
    const reader = new MysqlReader(connection);
    try {
      for (const statement of sessionSettings) await reader.query(statement);
      // The server may wait for its client to read while a batch is written.
      await reader.query('SET SESSION net_write_timeout = 3600');
    } catch (error) {
      reader.close();
      throw error;
    }
    return reader;
  }

  async schema(): Promise<string> {
    const [row] = await this.query<{ name: string }>('SELECT DATABASE() AS name');
    return String(row?.name);
  }

  async columns(schema: string, table: string): Promise<string[]> {
    const rows = await this.query<{ name: string }>(
      'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
      [schema, table],
    );
    return rows.map(({ name }) => name);
  }

  quoted(identifier: string): string {
    return `\`${identifier.replaceAll('`', '``')}\``;
  }

  rows(statement: string): AsyncIterable<SourceRow> {
    return this.connection.query(statement).stream({ highWaterMark: 200 });
  }

  close(): void {
    this.connection.destroy();
  }

  private query<Row>(statement: string, values: string[] = []): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      this.connection.query(statement, values, (error, rows) => {
        if (error) reject(error);
        else resolve(rows as Row[]);
      });
    });
  }
}

/** `BIT(1)`, which many tables use for flags, as a number. */
function bitsOf(bytes: Buffer | null): string | null {
  return bytes === null ? null : BigInt(`0x${bytes.toString('hex') || '0'}`).toString();
}

class SqliteReader extends TableReader {
  private readonly database: SqliteDatabase.Database;

  constructor(file: string) {
    super();
    this.database = new SqliteDatabase(file, { readonly: true, fileMustExist: true });
    // An id of 64 bits must not be rounded.
    this.database.defaultSafeIntegers(true);
  }

  schema(): Promise<null> {
    return Promise.resolve(null);
  }

  columns(_schema: null, table: string): Promise<string[]> {
    const rows = this.database.prepare('SELECT name FROM pragma_table_xinfo(?)').all(table) as { name: string }[];
    return Promise.resolve(rows.map(({ name }) => name));
  }

  quoted(identifier: string): string {
    return `"${identifier.replaceAll('"', '""')}"`;
  }

  rows(statement: string): Iterable<SourceRow> {
    return this.database.prepare(statement).iterate() as IterableIterator<SourceRow>;
  }

  close(): void {
    this.database.close();
  }
}
