import { Clock } from '../../shared/clock';
import { sha256Hex } from '../crypto/key-ring';
import type { Condition, Found, SearchedPage } from './search';

/** How a list is sorted: by a column, and by the id where several rows can have one value. The texts are constants of the code. */
export interface ListOrder {
  readonly column: string;
  /** The column of the id. Undefined where the values of the column are unique in the list. */
  readonly id?: string;
  readonly descending: boolean;
}

export interface SortedList {
  readonly where: Condition;
  readonly order: ListOrder;
  /** An index finds the few rows of the list, so they are sorted, and no start of a page is kept. */
  readonly few: boolean;
}

export interface PlacedRow {
  readonly id: string;
  /** The value of the column of the order. */
  readonly place: string | null;
}

/** The statements of the owner of the table. */
export interface ListStatements<Row extends PlacedRow> {
  rows(where: Condition, order: string, limit: number, skip: number): Promise<readonly Row[]>;
  count(where: Condition): Promise<number>;
}

interface Start {
  /** Rows before it. */
  readonly skip: number;
  /** The row before it. */
  readonly row: PlacedRow;
  /** The rows of the list, when its first page was read. */
  readonly total: number;
  readonly until: Date;
}

/** A client that reads a list asks for its next page before this. Longer pauses cost a walk over the index. */
const keptSeconds = 300;
const mostLists = 32;
const mostStarts = 32;

/**
 * Pages by position, as SCIM has them (RFC 7644 §3.4.2.4), of which a client reads one after the other. The database would walk over all
 * rows before a page. So the row at which the next page begins is kept for a while, and that page is read behind it. With
 * several replicas, or after a pause, the walk begins at the nearest start that this process knows.
 * While rows are made and removed, a client that reads page after page sees each row that stays once. So each reader has starts of its
 * own: after a deletion, the first page of a second reader ends at a later row, and the first reader would miss the row before it. The
 * total of the list is counted with the first page, and again when the pages go beyond it.
 */
export class PageStarts {
  private readonly lists = new Map<string, Start[]>();

  constructor(private readonly clock: Clock) {}

  async page<Row extends PlacedRow>(
    list: SortedList,
    { reader, skip, limit }: SearchedPage,
    statements: ListStatements<Row>,
  ): Promise<Found<Row>> {
    const { where, few } = list;
    const key = sha256Hex(JSON.stringify([reader, where, list.order]));
    const start = few ? undefined : this.nearest(key, skip);
    const before = start?.skip ?? 0;
    const behind = start === undefined ? where : both(where, conditionBehind(list.order, start.row));
    const rows = limit === 0 ? [] : await statements.rows(behind, orderText(list), limit, skip - before);
    const end = skip + rows.length;
    const isLast = rows.length < limit && (rows.length > 0 || skip === before);
    const last = rows.at(-1);
    const total = isLast ? end : await this.total(list, start, end, last, statements);
    if (!few && !isLast && last !== undefined)
      this.keep(key, { skip: end, row: placeOf(last), total, until: this.end() });
    return { total, rows };
  }

  /** What lies behind a page is counted when there is more than the first page has counted. Then that is little. */
  private async total(
    { where, order }: SortedList,
    start: Start | undefined,
    end: number,
    last: PlacedRow | undefined,
    statements: ListStatements<PlacedRow>,
  ): Promise<number> {
    if (start === undefined || last === undefined) return statements.count(where);
    if (end < start.total) return start.total;
    return end + (await statements.count(both(where, conditionBehind(order, last))));
  }

  private nearest(key: string, skip: number): Start | undefined {
    const now = this.clock.now();
    const usable = (this.lists.get(key) ?? []).filter((one) => one.skip <= skip && one.until > now);
    return usable.reduce<Start | undefined>((best, one) => (best && best.skip > one.skip ? best : one), undefined);
  }

  /** The list and the start that were not written for the longest time are forgotten. */
  private keep(key: string, start: Start): void {
    const others = (this.lists.get(key) ?? []).filter(({ skip }) => skip !== start.skip);
    this.lists.delete(key);
    this.lists.set(key, [...others, start].slice(-mostStarts));
    for (const oldest of [...this.lists.keys()].slice(0, -mostLists)) this.lists.delete(oldest);
  }

  private end(): Date {
    return this.clock.secondsFromNow(keptSeconds);
  }
}

/**
 * The optimizer of MariaDB would read the whole index of the order rather than sort the few rows that another index finds, so
 * such a list is ordered by an expression.
 */
function orderText({ order: { column, id, descending }, few }: SortedList): string {
  const direction = descending ? ' DESC' : '';
  const first = `${few ? `COALESCE(${column}, '')` : column}${direction}`;
  return id === undefined ? first : `${first}, ${id}${direction}`;
}

/** A start keeps no more of a row, because the rest may have personal data. */
const placeOf = ({ id, place }: PlacedRow): PlacedRow => ({ id, place });

/** NULL is the first of all values, in both databases. */
function conditionBehind({ column, id, descending }: ListOrder, { id: rowId, place }: PlacedRow): Condition {
  const sign = descending ? '<' : '>';
  if (id === undefined) return { text: `${column} ${sign} ?`, values: [place] };
  if (place === null) {
    const others = descending ? '' : ` OR ${column} IS NOT NULL`;
    return { text: `((${column} IS NULL AND ${id} ${sign} ?)${others})`, values: [rowId] };
  }
  const nulls = descending ? ` OR ${column} IS NULL` : '';
  return {
    text: `(${column} ${sign} ? OR (${column} = ? AND ${id} ${sign} ?)${nulls})`,
    values: [place, place, rowId],
  };
}

const both = (one: Condition, other: Condition): Condition => ({
  text: `${one.text} AND ${other.text}`,
  values: [...one.values, ...other.values],
});
