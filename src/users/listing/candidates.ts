import type { Database } from '../../platform/database/database';
import type { SqlValue } from '../../platform/database/sql';
import { allOf, type Condition, condition } from './conditions';
import { listedColumns, type ListedRow } from './listed-row';

/** An index whose entries are candidates, in its order. Each text is a constant of the code. */
export interface Candidates {
  readonly table: 'users' | 'user_words';
  readonly index: string;
  /** The column of the order; `id` decides among equal keys. */
  readonly key: string;
  readonly id: 'uid' | 'user_id';
  /** No two entries have the same key. MariaDB would sort the entries of a unique index for the sake of the id. */
  readonly unique?: true;
  readonly descending: boolean;
  /** One range of the index, or a few. */
  readonly where: readonly Condition[];
  readonly keyText: (key: unknown) => string;
  readonly keyValue: (text: string) => SqlValue;
}

export type CandidateKey = readonly [key: string, uid: string];

export interface Scanned {
  readonly rows: readonly { readonly row: ListedRow; readonly key: CandidateKey }[];
  /** Where the next page goes on when the work of this one is used up. */
  readonly end?: CandidateKey;
  /** The candidates of this page that were looked at, at most. */
  readonly scanned: number;
}

/** Candidates of each statement: the first ones are enough when many of them match, and the last ones end the page. */
const windows = [200, 600, 1200] as const;
/** All windows of one part of a page, and the first one of each of three other parts. */
const mostScanned = 2600;

/**
 * The candidates that meet the conditions, at most `limit`. The work is bounded: a page ends early when a window is used up
 * (ADR 0041). MySQL and MariaDB are told the index and the order of the join; SQLite keeps the order of a CROSS JOIN.
 * @param conditions about `users`, and about the key of the candidate as `f.k`
 * @param lock the values of `listedColumns`
 */
export async function scan(
  database: Database,
  candidates: Candidates,
  { conditions, lock, limit, after, before }: ScanOptions,
): Promise<Scanned> {
  const { keyText, descending, key, id, unique } = candidates;
  let scanned = before;
  const rows: Scanned['rows'][number][] = [];
  const direction = descending ? ' DESC' : '';
  let from = after;
  for (const [n, usual] of windows.entries()) {
    // A long page of users who all match, as an export has, needs one statement.
    const window = n === 0 ? Math.max(usual, Math.trunc(limit)) : usual;
    // The first window is always looked at, so that each page goes on.
    if (n > 0 && scanned + window > mostScanned) return { rows, end: from, scanned };
    scanned += window;
    let end: CandidateKey | undefined;
    for (const step of stepsAfter(candidates, from)) {
      const where = allOf(...candidates.where, ...step.where);
      const inOrder = `SELECT ${id} AS found, ${key} AS k FROM ${candidates.table} /*! FORCE INDEX (${candidates.index}) */
        WHERE ${where.text} ORDER BY ${step.order}`;
      const all = allOf(...conditions);
      const found = await database.rows<ListedRow & { placeKey: unknown }>(
        `SELECT /*! STRAIGHT_JOIN */ ${listedColumns}, f.k AS placeKey FROM (${inOrder} LIMIT ${window}) f CROSS JOIN users
         WHERE users.uid = f.found AND ${all.text} ORDER BY f.k${direction}${unique ? '' : `, f.found${direction}`} LIMIT ${Math.trunc(limit - rows.length)}`,
        [...lock, ...where.values, ...all.values],
      );
      for (const row of found) rows.push({ row, key: [keyText(row.placeKey), row.uid] });
      if (rows.length >= limit) return { rows, scanned };
      const last = await database.row<{ found: string; k: unknown }>(
        `${inOrder} LIMIT 1 OFFSET ${window - 1}`,
        where.values,
      );
      if (last === undefined) continue;
      end = [keyText(last.k), last.found];
      break;
    }
    if (end === undefined) return { rows, scanned };
    from = end;
  }
  return { rows, end: from, scanned };
}

export interface ScanOptions {
  readonly conditions: readonly Condition[];
  readonly lock: readonly SqlValue[];
  readonly limit: number;
  readonly after: CandidateKey | undefined;
  /** The candidates that other parts of the page have looked at. */
  readonly before: number;
}

type Ordered = Pick<Candidates, 'key' | 'unique' | 'descending' | 'keyValue'> & { readonly id: string };

interface Step {
  readonly where: readonly Condition[];
  readonly order: string;
}

/**
 * The entries after a place: those of the same key, then the others. As one range, all entries of the key would be read. MariaDB
 * would also read and sort them all if the order of the first step named the key, although it is the same one for each.
 */
export function stepsAfter(candidates: Ordered, after: CandidateKey | undefined): Step[] {
  const { key, id, unique, descending, keyValue } = candidates;
  const direction = descending ? ' DESC' : '';
  const order = unique || key === id ? `${key}${direction}` : `${key}${direction}, ${id}${direction}`;
  if (after === undefined) return [{ where: [], order }];
  const sign = descending ? '<' : '>';
  const [last, uid] = [keyValue(after[0]), after[1]];
  const others: Step = { where: [condition(`${key} ${sign} ?`, last)], order };
  if (unique || key === id) return [others];
  return [{ where: [condition(`${key} = ? AND ${id} ${sign} ?`, last, uid)], order: `${id}${direction}` }, others];
}
