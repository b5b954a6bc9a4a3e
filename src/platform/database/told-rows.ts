import type { Sql, SqlValue } from './sql';
import { timeOf } from './sql';

/**
 * How a column is told to the person whom its row is about. `withheld`: a secret or its hash, of which only the existence is
 * told. `internal`: it says nothing about the person, or it is about somebody else. A record gives each number its word.
 */
export type ToldColumn =
  'value' | 'number' | 'time' | 'flag' | 'json' | 'withheld' | 'internal' | Readonly<Record<number, string>>;

/**
 * What the export of a person tells of a table. The owner of the table declares it beside its erasure (ADR 0039). All names
 * become part of the SQL text, so they must be constants of the code.
 */
export interface ToldTable {
  readonly table: string;
  /** The name of its part in the export. Without it that of the table. */
  readonly section?: string;
  /** The column that names the user. It begins an index. */
  readonly user: string;
  /** The columns whose order is that of the rows. They are unique among the rows of a user, and an index has them. */
  readonly order: readonly [first: string, second?: string];
  /** Every column of the table but `user`. A test compares them with the table. */
  readonly columns: Readonly<Record<string, ToldColumn>>;
  /** Names that are better than those of the columns. */
  readonly names?: Readonly<Record<string, string>>;
  /** Further values, each by an expression of SQL, as the name of an application. */
  readonly more?: Readonly<Record<string, string>>;
  /** A further condition of SQL: rows that do not meet it tell nothing that others do not. */
  readonly only?: string;
}

export type ToldRow = Readonly<Record<string, unknown>>;

/** Rows of one statement. Memory holds one such page. */
const pageRows = 500;

/** The rows of a user in one table, page by page. Rows that are written meanwhile may be missing. */
export async function* toldRows(sql: Sql, told: ToldTable, uid: string): AsyncGenerator<readonly ToldRow[]> {
  const [first, second] = told.order;
  const shown = Object.entries(told.columns).filter(([, kind]) => kind !== 'internal');
  const more = Object.entries(told.more ?? {}).map(([name, expression]) => `, ${expression} AS ${name}`);
  const keys = [first, second].flatMap((key, n) => (key === undefined ? [] : [`, ${key} AS told_key_${n}`]));
  const from = `SELECT ${shown.map(([column]) => column).join(', ')}${more.join('')}${keys.join('')} FROM ${told.table}
     WHERE ${told.user} = ?${told.only === undefined ? '' : ` AND ${told.only}`}`;
  const after = second === undefined ? `${first} > ?` : `${first} >= ? AND (${first} > ? OR ${second} > ?)`;
  const order = `ORDER BY ${told.order.join(', ')} LIMIT ${pageRows}`;
  for (let place: readonly SqlValue[] | undefined = []; place !== undefined;) {
    const text: string = place.length === 0 ? `${from} ${order}` : `${from} AND ${after} ${order}`;
    const rows: Record<string, unknown>[] = await sql.rows(text, [uid, ...place]);
    if (rows.length > 0) yield rows.map((row) => toldRow(told, row));
    const last: Record<string, unknown> | undefined = rows.length < pageRows ? undefined : rows.at(-1);
    place = last && placeOf(told, last.told_key_0, last.told_key_1);
  }
}

function placeOf({ order: [column, second], columns }: ToldTable, key: unknown, tie: unknown): SqlValue[] {
  const value = (columns[column] === 'time' ? timeOf(key) : key) as SqlValue;
  return second === undefined ? [value] : [value, value, tie as SqlValue];
}

function toldRow({ columns, names = {}, more = {} }: ToldTable, row: Record<string, unknown>): ToldRow {
  const told: Record<string, unknown> = {};
  for (const [column, kind] of Object.entries(columns)) {
    if (kind === 'internal') continue;
    const name = names[column] ?? column;
    if (kind === 'withheld') told[`has_${name}`] = row[column] !== null;
    else told[name] = row[column] === null ? null : valueOf(kind, row[column]);
  }
  for (const name of Object.keys(more)) told[name] = row[name];
  return told;
}

function valueOf(kind: ToldColumn, value: unknown): unknown {
  if (kind === 'time') return timeOf(value).toISOString();
  if (kind === 'number') return Number(value);
  if (kind === 'flag') return Number(value) === 1;
  if (kind === 'json') return JSON.parse(String(value));
  return typeof kind === 'object' ? (kind[Number(value)] ?? Number(value)) : value;
}
