export type SqlValue = string | number | boolean | Date | null;

export interface Written {
  readonly affected: number;
  /** The generated key of an inserted row. */
  readonly key: number;
}

/**
 * Plain SQL with `?` placeholders, with the same text for MySQL, MariaDB and SQLite. Guarded writes and hot reads use
 * it, because the statement itself is their guarantee. ADR 0003 says what uses the repositories of TypeORM. All methods
 * throw DomainError COMMON_503001 if the database cannot answer.
 */
export abstract class Sql {
  abstract rows<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row[]>;

  /** Runs one write. Use `affected`, `inserted` or `won`. */
  abstract written(statement: string, values?: readonly SqlValue[]): Promise<Written>;

  /** Runs the work in this transaction, or in a new one if this is the database. */
  abstract together<T>(work: (sql: Sql) => Promise<T>): Promise<T>;

  /**
   * Calls `work` after the commit of this transaction, and never after a rollback. On the database, whose statements
   * commit by themselves, it calls `work` now. A process that dies after the commit does not call it: the rows alone
   * are certain. `work` must not throw and must not wait.
   */
  abstract afterCommit(work: () => void): void;

  /**
   * Returns the number of matched rows (MySQL: FOUND_ROWS). The WHERE of a guard must therefore exclude the new state.
   */
  async affected(statement: string, values?: readonly SqlValue[]): Promise<number> {
    return (await this.written(statement, values)).affected;
  }

  /** Inserts one row. @returns its generated key */
  async inserted(statement: string, values?: readonly SqlValue[]): Promise<number> {
    return (await this.written(statement, values)).key;
  }

  async row<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.rows<Row>(statement, values))[0];
  }

  /** Runs one guarded write of at most one row. @returns true if this caller won */
  async won(statement: string, values?: readonly SqlValue[]): Promise<boolean> {
    const affected = await this.affected(statement, values);
    if (affected > 1) throw new Error(`a guarded write touched ${affected} rows`);
    return affected === 1;
  }
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC, for a DATETIME(3) of MySQL and a TEXT column of SQLite. */
function sqlTime(time: Date): string {
  return time.toISOString().slice(0, 23).replace('T', ' ');
}

/** Converts a time column: mysql2 returns a Date, SQLite a text. */
export function timeOf(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(' ', 'T')}Z`);
}

export function timeOrNull(value: unknown): Date | null {
  return value === null || value === undefined ? null : timeOf(value);
}

export function bindable(values: readonly SqlValue[]): (string | number | null)[] {
  return values.map((value) => {
    if (value instanceof Date) return sqlTime(value);
    // Drivers spread arrays over several placeholders and read objects as options (docs/spec/attacks.md#w42).
    if (typeof value === 'object' && value !== null) throw new TypeError('a statement takes plain values only');
    return typeof value === 'boolean' ? Number(value) : value;
  });
}
