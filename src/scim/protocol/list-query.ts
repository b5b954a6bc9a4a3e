import type { SearchedPage } from '../../platform/database/search';
import { type Filter, parseFilter } from './filter';
import { attributeKey } from './schemas';
import { invalidPath, invalidValue } from './scim-error';

/** The parameters of a list (RFC 7644 §3.4.2). */
export interface ListQuery {
  readonly filter: Filter | undefined;
  /** The key of the attribute, in lower case. */
  readonly sortBy: string | undefined;
  readonly descending: boolean;
  /** The number of the first resource; the first one is 1. */
  readonly startIndex: number;
  readonly count: number;
}

/** @param reader the id of the client */
export const pageOf = (reader: string, { startIndex, count, descending }: ListQuery): SearchedPage => ({
  reader,
  skip: startIndex - 1,
  limit: count,
  descending,
});

/** A page has no more resources, whatever the client asks for. */
export const mostResources = 200;
const defaultCount = 100;
/** No table has so many rows. A larger number would not be one for the databases. */
const largestIndex = 2_147_483_647;

export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** @throws ScimError */
export function listQuery(query: RawQuery): ListQuery {
  const filter = one(query, 'filter');
  const sortOrder = (one(query, 'sortOrder') ?? 'ascending').toLowerCase();
  if (sortOrder !== 'ascending' && sortOrder !== 'descending')
    throw invalidValue('sortOrder must be ascending or descending');
  const sortBy = one(query, 'sortBy');
  return {
    filter: filter === undefined ? undefined : parseFilter(filter),
    sortBy: sortBy === undefined ? undefined : attributeKey(sortBy).toLowerCase(),
    descending: sortOrder === 'descending',
    // RFC 7644 §3.4.2.4: a smaller number counts as 1, and a negative count as 0.
    startIndex: Math.min(largestIndex, Math.max(1, whole(query, 'startIndex', 1))),
    count: Math.min(mostResources, Math.max(0, whole(query, 'count', defaultCount))),
  };
}

/** @throws ScimError for an attribute without an index in its order */
export function orderOf<Order>({ sortBy }: ListQuery, orders: ReadonlyMap<string, Order>, fallback: Order): Order {
  if (sortBy === undefined) return fallback;
  const order = orders.get(sortBy);
  if (order === undefined) throw invalidPath(`sortBy must be one of ${[...orders.keys()].join(', ')}`);
  return order;
}

/** A parameter that is repeated would be read differently by two programs. @throws ScimError */
export function one(query: RawQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalidValue(`${name} must not be repeated`);
  return value;
}

function whole(query: RawQuery, name: string, fallback: number): number {
  const value = one(query, name);
  if (value === undefined) return fallback;
  if (!/^-?\d{1,15}$/.test(value)) throw invalidValue(`${name} must be a whole number`);
  return Number(value);
}
