import { getMetadataArgsStorage } from 'typeorm';
import { type SqlValue, timeOf, timeOrNull } from '../platform/database/sql';
import type { UserColumn } from './user-fields';
import { User } from './user.entity';

/** Values as the drivers return them. The drivers differ in the types of times and flags. */
export type Stored<P extends UserColumn> = {
  readonly [Q in P]: Extract<User[Q], Date | boolean> extends never ? User[Q] : unknown;
};

interface StoredColumn {
  readonly name: string;
  readonly length: number;
  /** Whether the reads of a user have it. */
  readonly selected: boolean;
  readonly read: (value: unknown) => unknown;
}

const asStored = (value: unknown): unknown => value;
const asFlag = (value: unknown): boolean => Number(value) === 1;

/** The columns as the entity declares them. */
const columns = Object.fromEntries(
  getMetadataArgsStorage()
    .filterColumns(User)
    .map(({ propertyName, options: { name = propertyName, type, length, nullable, select = true } }) => {
      const asTime = nullable ? timeOrNull : timeOf;
      const read = type === 'datetime' ? asTime : type === 'boolean' ? asFlag : asStored;
      return [propertyName, { name, length: Number(length ?? 0), selected: select, read }];
    }),
) as Readonly<Record<UserColumn, StoredColumn>>;

/** The columns that the use cases read of a user. The entity has the other ones as optional properties. */
export type ReadField = { [P in UserColumn]: undefined extends User[P] ? never : P }[UserColumn];

export const readFields = (Object.keys(columns) as ReadField[]).filter((field) => columns[field].selected);

export const columnOf = (field: UserColumn): string => columns[field].name;
export const lengthOf = (field: UserColumn): number => columns[field].length;

/** The list of a SELECT: each column under the name of its property. @param alias of the table */
export function columnsOf(fields: readonly UserColumn[], alias?: string): string {
  const of = alias === undefined ? '' : `${alias}.`;
  return fields.map((field) => `${of}${columnOf(field)}${columnOf(field) === field ? '' : ` AS ${field}`}`).join(', ');
}

/** @returns a function that reads these fields of a row. A column that was not selected is undefined in the row. */
export function readerOf<P extends UserColumn>(fields: readonly P[]): (row: Stored<P>) => Pick<User, P> {
  const readers = fields.map((field) => [field, columns[field].read] as const);
  return (row) => {
    const values: Partial<Record<P, unknown>> = {};
    for (const [field, read] of readers) values[field] = read(row[field]);
    return values as Pick<User, P>;
  };
}

export interface PlacedValue {
  readonly column: string;
  readonly place: string;
  readonly value: SqlValue;
}

/** A value that is undefined is not written. */
export type UserValues = { readonly [P in UserColumn]?: User[P] };

/** The columns of an INSERT or UPDATE, with a place for the value of each. */
export function placesOf(values: UserValues): PlacedValue[] {
  const given = Object.entries(values) as [UserColumn, SqlValue | undefined][];
  return given.flatMap(([field, value]) =>
    // The database makes the lower case of the key, as it does for a search.
    value === undefined ? [] : [{ column: columnOf(field), place: field === 'nicknameKey' ? 'LOWER(?)' : '?', value }],
  );
}
