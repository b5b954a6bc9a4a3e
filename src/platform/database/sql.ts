export type SqlValue = string | number | boolean | Date | null;

/**
 * Plain SQL with `?` placeholders, the same text for MySQL, MariaDB and SQLite: inside a transaction or each statement
 * for itself. Guarded writes and hot reads use it, because there the statement is the promise; the rest uses TypeORM's
 * repositories. @throws DomainError COMMON_503001 when the store cannot answer.
 */
export abstract class Sql {
  abstract rows<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row[]>;

  /** The number of rows that matched (MySQL: FOUND_ROWS), so a guard must exclude the state that it enters. */
  abstract affected(statement: string, values?: readonly SqlValue[]): Promise<number>;

  async row<Row>(statement: string, values?: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.rows<Row>(statement, values))[0];
  }

  /** One guarded write of at most one row: true means "I won". */
  async won(statement: string, values?: readonly SqlValue[]): Promise<boolean> {
    const affected = await this.affected(statement, values);
    if (affected > 1) throw new Error(`a guarded write touched ${affected} rows`);
    return affected === 1;
  }
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC: what a DATETIME(3) takes, and what the TEXT column of SQLite holds. */
export function sqlTime(time: Date): string {
  return time.toISOString().slice(0, 23).replace('T', ' ');
}

/** A time column as the driver gave it: a Date from mysql2, text from SQLite. */
export function timeOf(value: unknown): Date {
  return value instanceof Date ? value : new Date(`${String(value).replace(' ', 'T')}Z`);
}

export function timeOrNull(value: unknown): Date | null {
  return value === null || value === undefined ? null : timeOf(value);
}

export function bindable(values: readonly SqlValue[]): (string | number | null)[] {
  return values.map((value) => {
    if (value instanceof Date) return sqlTime(value);
    // Drivers spread arrays over the placeholders and read objects as options (W42).
    if (typeof value === 'object' && value !== null) throw new TypeError('a statement takes plain values only');
    return typeof value === 'boolean' ? Number(value) : value;
  });
}
