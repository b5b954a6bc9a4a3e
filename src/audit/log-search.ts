import { Injectable } from '@nestjs/common';
import { Database } from '../platform/database/database';
import { type SqlValue, timeOf } from '../platform/database/sql';
import { firstStorable, lastStorable, storable } from '../shared/time-text';
import type { LogFilter, LogTable, UserCondition } from './log-tables';

/** A row of a log by the names of its columns. The id orders rows of the same millisecond. */
export type LogRow = Readonly<Record<string, unknown>> & { readonly id: number; readonly createdAt: Date };

/** The place of a row in the order of a log. */
export type LogPlace = readonly [milliseconds: number, id: number];

/**
 * The most rows that one page looks at when the index does not decide about all filters (ADR 0027). When they are used up,
 * the page ends early, perhaps empty, and its cursor continues behind them.
 */
export const windowRows = 3000;

/** Texts of LIMIT, because each text is a prepared statement of its own: pages, long pages, streams. */
const limits = [51, 201, 1001] as const;

interface Conditions {
  readonly texts: string[];
  readonly values: SqlValue[];
}

/** Searches a log, the newest rows first. The work of each page is bounded, whatever the filters (ADR 0027). */
@Injectable()
export class LogSearch {
  constructor(private readonly database: Database) {}

  /** @param only the users whose rows are found; undefined: the rows of all users and of none. @param limit at most 1000 */
  async page(
    log: LogTable,
    filter: LogFilter,
    only: UserCondition | undefined,
    limit: number,
    after: LogPlace | undefined,
  ): Promise<{ readonly items: readonly LogRow[]; readonly next: LogPlace | null }> {
    const { range, rest, index } = plan(log, filter, only, after);
    const last = rest.texts.length === 0 ? undefined : await this.endOfWindow(log, index, range);
    if (last !== undefined) {
      range.texts.push('created_at >= ? AND (created_at > ? OR id >= ?)');
      range.values.push(last.createdAt, last.createdAt, last.id);
    }
    const rows = await this.read(
      `SELECT id, created_at AS createdAt, ${log.columns.join(', ')} FROM ${log.table} ${index}
       WHERE ${[...range.texts, ...rest.texts].join(' AND ')}
       ORDER BY created_at DESC, id DESC LIMIT ${limits.find((one) => one > limit) ?? limits[2]}`,
      [...range.values, ...rest.values],
    );
    const items = rows.slice(0, limit);
    return { items, next: nextAfter(rows.length > limit ? items.at(-1) : last) };
  }

  /** The last row that this page may look at, or undefined when fewer rows are left. Reads the index only. */
  private async endOfWindow(log: LogTable, index: string, range: Conditions): Promise<LogRow | undefined> {
    const rows = await this.read(
      `SELECT id, created_at AS createdAt FROM ${log.table} ${index} WHERE ${range.texts.join(' AND ')}
       ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ${windowRows - 1}`,
      range.values,
    );
    return rows[0];
  }

  private async read(statement: string, values: readonly SqlValue[]): Promise<LogRow[]> {
    const rows = await this.database.rows<Record<string, unknown>>(statement, values);
    return rows.map((row) => ({ ...row, id: Number(row.id), createdAt: timeOf(row.createdAt) }));
  }
}

const nextAfter = (row: LogRow | undefined): LogPlace | null =>
  row === undefined ? null : [row.createdAt.getTime(), row.id];

/**
 * Splits the conditions: `range` is one range of one index, and its order is that of the page. `rest` is compared row by
 * row, within the window. The index is forced, because the optimizer of MariaDB sometimes prefers the index of another
 * filter, whose rows it would have to read and sort. SQLite takes the hint for a comment.
 */
function plan(log: LogTable, filter: LogFilter, only: UserCondition | undefined, after: LogPlace | undefined) {
  const range: Conditions = { texts: [], values: [] };
  const rest: Conditions = { texts: [], values: [] };
  const add = ({ texts, values }: Conditions, text: string, ...bound: readonly SqlValue[]) => {
    texts.push(text);
    values.push(...bound);
  };
  const given = log.filters.filter(([field]) => filter[field] !== undefined);
  for (const [n, [field, column]] of given.entries()) add(n === 0 ? range : rest, `${column} = ?`, filter[field]!);
  if (filter.failed) add(rest, "outcome <> 'success'");
  if (filter.acted) add(rest, 'actor_id IS NOT NULL');
  if (only !== undefined) {
    const { text, values } = only(`${log.table}.user_id`);
    add(rest, text, ...values);
  }
  add(
    range,
    'created_at >= ? AND created_at < ?',
    storable(filter.from ?? firstStorable),
    storable(filter.to ?? lastStorable),
  );
  if (after !== undefined) {
    const [at, id] = [storable(new Date(after[0])), after[1]];
    add(range, 'created_at <= ? AND (created_at < ? OR id < ?)', at, at, id);
  }
  const columns = [...given.slice(0, 1).map(([, column]) => column), 'created_at'];
  return { range, rest, index: `/*! FORCE INDEX (ix_${log.table}_${columns.join('_')}) */` };
}
