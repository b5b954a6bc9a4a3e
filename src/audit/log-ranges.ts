import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { type SqlValue, timeOf } from '../platform/database/sql';
import type { LogRow } from './log-search';
import type { LogTable } from './log-tables';

const pageRows = 1000;

/** Reads a log in the order of its ids, for exports. Each page is a range of the primary key and takes no lock. */
@Injectable()
export class LogRanges {
  constructor(private readonly database: Database) {}

  /**
   * The pages of the rows behind `after` and before `end`. The reader decides when the next page is read, so the memory does not
   * grow with the log.
   */
  async *rows(log: LogTable, after: number, end: number | undefined): AsyncGenerator<readonly LogRow[]> {
    for (let from = after; ;) {
      const rows = await this.read(
        `SELECT id, created_at AS createdAt, ${log.columns.join(', ')} FROM ${log.table}
         WHERE id > ? AND id < ? ORDER BY id LIMIT ${pageRows}`,
        [from, end ?? Number.MAX_SAFE_INTEGER],
      );
      if (rows.length > 0) yield rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageRows) return;
      from = last.id;
    }
  }

  /** The smallest id of the rows of these times, both included. Undefined: there is none. Reads the index of the time only. */
  async firstWithin(log: LogTable, since: Date, until: Date): Promise<number | undefined> {
    const [row] = await this.database.rows<{ id: number | null }>(
      `SELECT MIN(id) AS id FROM ${log.table} WHERE created_at >= ? AND created_at <= ?`,
      [since, until],
    );
    return idOf(row);
  }

  /**
   * The first id behind the rows before this time. Undefined: no row has a later time.
   * A row whose time is behind `horizon` was written by a wrong clock, so its time decides nothing. It counts as a row of its place:
   * an export that waited for its time would wait for years. It still waits for a row behind it that is before `time`, because
   * rows with smaller ids may not be committed before that.
   */
  async endOf(log: LogTable, time: Date, horizon: Date): Promise<number | undefined> {
    const first = await this.firstWithin(log, time, horizon);
    const [beyond] = await this.database.rows<{ id: number | null }>(
      `SELECT MIN(id) AS id FROM ${log.table} WHERE created_at > ?`,
      [horizon],
    );
    if (idOf(beyond) === undefined) return first;
    const [last] = await this.database.rows<{ id: number }>(
      `SELECT id FROM ${log.table} WHERE created_at < ? ORDER BY id DESC LIMIT 1`,
      [time],
    );
    return Math.min(first ?? Infinity, (idOf(last) ?? 0) + 1);
  }

  async oldest(log: LogTable): Promise<LogRow | undefined> {
    const rows = await this.read(`SELECT id, created_at AS createdAt FROM ${log.table} ORDER BY id LIMIT 1`, []);
    return rows[0];
  }

  /** How many rows have an id from `first` to `last`. */
  async count(log: LogTable, first: number, last: number): Promise<number> {
    const [row] = await this.database.rows<{ number: unknown }>(
      `SELECT COUNT(*) AS number FROM ${log.table} WHERE id >= ? AND id <= ?`,
      [first, last],
    );
    return Number(row?.number ?? 0);
  }

  private async read(statement: string, values: readonly SqlValue[]): Promise<LogRow[]> {
    const rows = await this.database.rows<Record<string, unknown>>(statement, values);
    return rows.map((row) => ({ ...row, id: Number(row.id), createdAt: timeOf(row.createdAt) }));
  }
}

const idOf = (row: { readonly id: number | null } | undefined): number | undefined =>
  row === undefined || row.id === null ? undefined : Number(row.id);
