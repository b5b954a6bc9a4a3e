import type { Database } from '../../platform/database/database';
import { type SearchTerm, termsOf } from '../../shared/search-words';
import { tombstoneKeys } from '../user-fields';
import type { UserFilter } from './listed-user';
import { allOf, type Condition, condition, type LockBounds } from './conditions';
import { firstOf, isPlain, wordBegins } from './word-conditions';

/** More users than this are not counted, and not sorted. */
export const countedUsers = 10_000;

/** A range of an index with all users of whom one criterion of the filter is true. */
export interface Way {
  /** A SELECT of their uids, none of them twice, from the index alone. */
  readonly uids: Condition;
  /** The same without the work that leaves out the second entry of a user. */
  readonly entries: Condition;
  /** What each candidate costs: one for its user, and one for each other word; two where no word leads, because that of the order is one more. */
  readonly lookups: number;
  /** What follows FROM in a statement that also reads the rows of `users`. */
  readonly from: string;
  readonly where: Condition;
  /** Whether the range decides about the whole filter. */
  readonly decides: boolean;
  /** It is the whole list. */
  readonly isList?: true;
  /** The word of the query about which the range decides. */
  readonly term?: SearchTerm | undefined;
  /** The number of the word whose index it is. */
  readonly word?: number;
}

/** The shortest way, and how many users are on it. Undefined when each has more than are counted. */
export type Survey = (Way & { readonly users: number }) | undefined;

/** The tenant whose index is read: an administrator of one tenant reads no entry of another one, so no time tells of it. */
export const tenantOf = ({ within, tenantId }: UserFilter): string | undefined => within ?? tenantId;

/** The ways to the users of a filter. The last one is the list itself. */
export function waysOf(filter: UserFilter, { since }: LockBounds): Way[] {
  const { status, locked, provider, within, tenantId, query = '' } = filter;
  const terms = termsOf(query);
  const parts = terms.reduce((sum, term) => sum + term.parts.length, 0);
  const words = query.trim() === '' ? 0 : Math.max(terms.length, 1);
  const odd = within !== undefined && tenantId !== undefined && within !== tenantId;
  const criteria = words + [status, locked, provider].filter((one) => one !== undefined).length + (odd ? 1 : 0);
  const users = (decides: boolean, index: string, ...conditions: Condition[]): Way => {
    const where = allOf(...conditions);
    const from = `users /*! FORCE INDEX (${index}) */`;
    const uids = { text: `SELECT uid FROM ${from} WHERE ${where.text}`, values: where.values };
    return {
      ...{ uids, entries: uids, lookups: 1 + 2 * parts },
      from,
      where,
      decides,
    };
  };
  const tenant = tenantOf(filter);
  const ofTenant = tenant === undefined ? [] : [condition('tenant_id = ?', tenant)];
  const living = condition('login_name_key < ?', tombstoneKeys);
  const ways = longest(terms).map((word): Way => {
    const term = terms[word]!;
    const { text, values } = allOf(...ofTenant, wordBegins('word', firstOf(term)));
    const hint = `/*! FORCE INDEX (${wordIndex(tenant)}) */`;
    const entries = `SELECT user_id AS found FROM user_words ${hint} WHERE ${text}`;
    const uids = entries.replace('SELECT', 'SELECT DISTINCT');
    return {
      ...{ uids: { text: uids, values }, entries: { text: entries, values } },
      lookups: isPlain(term) ? parts : 1 + parts,
      ...{ from: `(${uids}) f CROSS JOIN users`, where: { text: 'users.uid = f.found', values } },
      decides: criteria === 1 && isPlain(term),
      term: isPlain(term) ? term : undefined,
      word,
    };
  });
  if (status !== undefined) {
    const index = `ix_users_${tenant === undefined ? '' : 'tenant_id_'}status_login_name_key`;
    ways.push(users(criteria === 1, index, ...ofTenant, condition('status = ?', status), living));
  }
  if (locked === true) {
    ways.push(users(false, 'ix_users_last_login_failed_time_uid', condition('last_login_failed_time > ?', since)));
  }
  const index = tenant === undefined ? 'uq_users_login_name_key' : 'ix_users_tenant_id_login_name_key';
  return [...ways, { ...users(criteria === 0, index, ...ofTenant, living), isList: true }];
}

/** Of many words only two are tried as ways, because each of them is counted. A long beginning is rarer than a short one. */
export function longest(terms: readonly SearchTerm[]): number[] {
  const lengths = terms.map((term, word) => [firstOf(term)[0]!.length, word] as const);
  return lengths
    .sort(([a], [b]) => b - a)
    .slice(0, 2)
    .map(([, word]) => word);
}

export const wordIndex = (tenant: string | undefined): string =>
  `ix_user_words_${tenant === undefined ? '' : 'tenant_id_'}word_user_id`;

/**
 * The users on a way, counted up to one more than `most`. Reads an index only. A way that does not decide is given up by the number of
 * its entries, so that a frequent beginning is not counted user by user.
 */
async function usersOn(database: Database, { uids, entries, decides }: Way, most: number): Promise<number> {
  if (!decides) {
    const beyond = await database.row(`${entries.text} LIMIT 1 OFFSET ${most}`, entries.values);
    if (beyond !== undefined) return most + 1;
  }
  const statement = `SELECT COUNT(*) AS n FROM (${uids.text} LIMIT ${most + 1}) f`;
  return Number((await database.row<{ n: unknown }>(statement, uids.values))?.n);
}

/** The shortest way of those that are short enough. */
export async function survey(database: Database, filter: UserFilter, bounds: LockBounds): Promise<Survey> {
  let best: Survey;
  for (const way of waysOf(filter, bounds)) {
    // The list itself is never shorter than a part of it.
    if (best !== undefined && (way.isList || best.users < few)) break;
    const most = way.decides ? countedUsers : Math.floor(mostLookups / way.lookups);
    const users = await usersOn(database, way, most);
    if (users <= most && users < (best?.users ?? Infinity)) best = { ...way, users };
  }
  return best;
}

/** The rows that are looked up for one page and its total: some ten milliseconds. */
const mostLookups = countedUsers;

/** Whether anything but the tenant is asked for. */
export const isFiltered = (filter: UserFilter, bounds: LockBounds): boolean => !waysOf(filter, bounds).at(-1)!.decides;

/** To look at so many users is cheaper than to look for a shorter way. */
const few = 1000;
