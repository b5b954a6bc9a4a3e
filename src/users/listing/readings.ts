import type { Database } from '../../platform/database/database';
import type { SqlValue } from '../../platform/database/sql';
import { type CandidateKey, type Candidates, scan, type ScanOptions, stepsAfter } from './candidates';
import { allOf, anyOf, type Condition, condition } from './conditions';
import { listedColumns, type ListedRow } from './listed-row';
import type { UserPlace } from './listed-user';
import type { Part, Parts } from './parts';
import type { Survey } from './ways';

export interface ReadRows {
  readonly rows: readonly { readonly row: ListedRow; readonly place: UserPlace }[];
  /** Where the next page goes on although this one has room. Null: nowhere. */
  readonly end: UserPlace | null;
  /** The users of all pages, if the reading has counted them. */
  readonly total?: number;
}

export interface ReadOptions {
  /** The filters. */
  readonly conditions: readonly Condition[];
  /** The values of `listedColumns`. */
  readonly lock: readonly SqlValue[];
  readonly limit: number;
  readonly after: UserPlace | undefined;
}

/** Reads the parts in the order of their indexes until the page is full, or has looked at as many candidates as it may. */
export async function readInOrder(database: Database, { list }: Parts, options: ReadOptions): Promise<ReadRows> {
  const { conditions, lock, limit, after } = options;
  const rows: ReadRows['rows'][number][] = [];
  let before = 0;
  for (const part of list) {
    if (part.number < (after?.[0] ?? 0)) continue;
    const scanned: ScanOptions = {
      ...{ conditions: [...conditions, ...part.conditions], lock, limit: limit - rows.length, before },
      after: part.number === after?.[0] ? [after[1], after[2]] : undefined,
    };
    const found = await scan(database, part.candidates, scanned);
    for (const { row, key } of found.rows) rows.push({ row, place: [part.number, ...key] });
    if (rows.length >= limit) break;
    if (found.end !== undefined) return { rows, end: [part.number, ...found.end] };
    before = found.scanned;
  }
  return { rows, end: null };
}

type SortedRow = ListedRow & Record<'part' | 'placeKey' | 'total', unknown>;

/**
 * Looks up the users of a way, which are at most `countedUsers`, sorts those that meet the conditions, and counts them. The
 * rows of the page alone are read as a whole.
 */
export async function readSorted(
  database: Database,
  { list, key }: Parts,
  way: NonNullable<Survey>,
  { conditions, lock, limit, after }: ReadOptions,
): Promise<ReadRows> {
  const last = list.at(-1)!;
  const part = numberOf(list);
  const all = allOf(...conditions);
  const later = after === undefined ? condition('TRUE') : laterThan(list, after);
  const direction = last.candidates.descending ? ' DESC' : '';
  const count = way.decides ? 'NULL' : 'COUNT(*) OVER ()';
  const rows = await database.rows<SortedRow>(
    `SELECT /*! STRAIGHT_JOIN */ ${listedColumns}, p.part, p.k AS placeKey, p.total FROM (
       SELECT /*! STRAIGHT_JOIN */ uid AS found, ${part.text} AS part, ${key.text} AS k, ${count} AS total
       FROM ${way.from} WHERE ${way.where.text} AND ${all.text}
     ) p CROSS JOIN users WHERE users.uid = p.found AND ${later.text}
     ORDER BY p.part, p.k${direction}, p.found${direction} LIMIT ${Math.trunc(limit)}`,
    [...lock, ...part.values, ...key.values, ...way.where.values, ...all.values, ...later.values],
  );
  return {
    rows: rows.map((row) => ({ row, place: placeOf(list, row) })),
    end: null,
    ...totalOf(rows, way, after),
  };
}

/** None when nothing is left behind the place. */
function totalOf(
  [row]: readonly SortedRow[],
  way: NonNullable<Survey>,
  after: UserPlace | undefined,
): Pick<ReadRows, 'total'> {
  if (way.decides) return { total: way.users };
  if (row !== undefined) return { total: Number(row.total) };
  return after === undefined ? { total: 0 } : {};
}

/** The number of the first part that has the user. */
function numberOf(list: readonly Part[]): Condition {
  const [last, ...others] = [...list].reverse();
  if (others.length === 0) return condition(String(last!.number));
  const cases = others.reverse().map(({ has, number }) => ({ ...has, text: `WHEN ${has.text} THEN ${number}` }));
  return {
    text: `CASE ${cases.map(({ text }) => text).join(' ')} ELSE ${last!.number} END`,
    values: cases.flatMap(({ values }) => values),
  };
}

function laterThan(list: readonly Part[], [number, ...place]: UserPlace): Condition {
  const same = list.find((part) => part.number === number);
  const later = condition('p.part > ?', number);
  if (same === undefined) return later;
  const steps = stepsAfter(foundColumns(same.candidates), place).map(({ where }) => allOf(...where));
  return anyOf(later, allOf(condition('p.part = ?', number), anyOf(...steps)));
}

/** The columns of `readSorted`. A part whose key is the id has no other key. */
const foundColumns = (candidates: Candidates) => ({
  ...candidates,
  key: candidates.key === candidates.id ? 'p.found' : 'p.k',
  id: 'p.found' as const,
});

function placeOf(list: readonly Part[], { uid, part, placeKey }: SortedRow): UserPlace {
  const number = Number(part);
  const { key, id, keyText } = list.find((one) => one.number === number)!.candidates;
  const own: CandidateKey = [key === id ? uid : keyText(placeKey), uid];
  return [number, ...own];
}
