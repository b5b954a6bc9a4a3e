import type { SqlValue } from './sql';

export type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le';

/** What a search selects. A field is one of the words of the caller, whose columns `conditionOf` gets. */
export type Search<Field extends string> =
  | { readonly all: readonly Search<Field>[] }
  | { readonly any: readonly Search<Field>[] }
  | { readonly not: Search<Field> }
  | { readonly field: Field; readonly present: true }
  | { readonly field: Field; readonly comparison: Comparison; readonly value: string | number | Date };

export interface SearchColumn {
  /** The column or expression. It becomes part of the SQL text, so it is a constant of the code. */
  readonly column: string;
  /** The placeholder of a value, for example `LOWER(?)`. */
  readonly place?: string;
  /** The form in which the column has the value. */
  readonly key?: (value: string) => string;
}

/** A field without an order or a text, of which only equality is asked: the whole condition, with one placeholder. */
export interface SearchCondition {
  readonly equals: string;
}

export type SearchColumns<Field extends string> = Readonly<Record<Field, SearchColumn | SearchCondition>>;

export interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A page of what a search finds, by its position. */
export interface SearchedPage {
  /** The id of the client that reads the list page after page. */
  readonly reader: string;
  /** Rows before the page. */
  readonly skip: number;
  readonly limit: number;
  readonly descending: boolean;
}

export interface Found<Row> {
  /** All that the search finds. */
  readonly total: number;
  readonly rows: readonly Row[];
}

/** Sorts after every character that a text can have. */
const lastCharacter = '\u{10FFFF}';

/**
 * The condition of a search. Each value has a placeholder, also a part of a text: `%` and `_` are no wildcards, because no LIKE is
 * used. A comparison with NULL is false, and not-equal is true.
 */
export function conditionOf<Field extends string>(search: Search<Field>, columns: SearchColumns<Field>): Condition {
  if ('all' in search) return joined(search.all, 'AND', columns);
  if ('any' in search) return joined(search.any, 'OR', columns);
  if ('not' in search) {
    const { text, values } = conditionOf(search.not, columns);
    return { text: `NOT ${text}`, values };
  }
  const column = columns[search.field];
  if ('equals' in column) return equality(search, column);
  if ('present' in search) return { text: `(${column.column} IS NOT NULL)`, values: [] };
  return compared(column, search.comparison, search.value);
}

function joined<Field extends string>(
  parts: readonly Search<Field>[],
  word: 'AND' | 'OR',
  columns: SearchColumns<Field>,
): Condition {
  const conditions = parts.map((part) => conditionOf(part, columns));
  return {
    text: `(${conditions.map(({ text }) => text).join(` ${word} `)})`,
    values: conditions.flatMap(({ values }) => values),
  };
}

function equality<Field extends string>(search: Search<Field>, { equals }: SearchCondition): Condition {
  if (!('comparison' in search) || search.comparison !== 'eq') throw new TypeError('only equality is searched');
  return { text: `(${equals})`, values: [search.value] };
}

function compared(
  { column, place = '?', key = (value) => value }: SearchColumn,
  comparison: Comparison,
  given: string | number | Date,
): Condition {
  const value = typeof given === 'string' ? key(given) : given;
  if (value === '' && ['co', 'sw', 'ew'].includes(comparison)) return { text: `(${column} IS NOT NULL)`, values: [] };
  const is = (test: string, ...values: SqlValue[]) => ({ text: `COALESCE(${test}, FALSE)`, values });
  switch (comparison) {
    case 'eq':
      // Without COALESCE, so that the index is used.
      return { text: `(${column} IS NOT NULL AND ${column} = ${place})`, values: [value] };
    case 'ne':
      return { text: `COALESCE(${column} <> ${place}, TRUE)`, values: [value] };
    case 'co':
      return is(`INSTR(${column}, ${place}) > 0`, value);
    case 'sw':
      return {
        text: `(${column} IS NOT NULL AND ${column} >= ${place} AND ${column} < ${place})`,
        values: [value, `${String(value)}${lastCharacter}`],
      };
    case 'ew':
      // The databases count characters, not the halves that JavaScript counts.
      return is(`SUBSTR(${column}, ?) = ${place}`, -[...String(value)].length, value);
    default:
      return is(`${column} ${{ gt: '>', ge: '>=', lt: '<', le: '<=' }[comparison]} ${place}`, value);
  }
}

/** Whether every match has one of a few values, so that the index of a field finds them. */
export function isSelective<Field extends string>(search: Search<Field>, unordered: readonly Field[]): boolean {
  if ('all' in search) return search.all.some((part) => isSelective(part, unordered));
  if ('any' in search) return search.any.every((part) => isSelective(part, unordered));
  return 'comparison' in search && search.comparison === 'eq' && !unordered.includes(search.field);
}
