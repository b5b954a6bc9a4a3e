import { timeOf } from '../../platform/database/sql';
import { termsOf } from '../../shared/search-words';
import { tombstoneKeys } from '../user-fields';
import type { Candidates } from './candidates';
import { beginnings, type Condition, condition, type LockBounds, not } from './conditions';
import type { UserFilter, UserSort } from './listed-user';
import { longest, type Survey, tenantOf, wordIndex } from './ways';
import { firstOf, firstWord, isFirstWord, isPlain, matches, wordBegins } from './word-conditions';

/** A part of a list, in the order of an index. A user belongs to the first part that has the user. */
export interface Part {
  /** It is in the place of each row. */
  readonly number: number;
  readonly candidates: Candidates;
  /** What a candidate must meet beside the filters: to be in no part before, and the words that its index does not decide. */
  readonly conditions: readonly Condition[];
  /** Whether the part has a user whom the filters have found. */
  readonly has: Condition;
}

export interface Parts {
  readonly list: readonly Part[];
  /** The key of a user, whatever the part. */
  readonly key: Condition;
}

/** The parts of a search that version 1.0.0 has. The words follow: each word of the query can lead them, and has a number. */
const beginningParts = 3;

/**
 * The parts in the order that was asked for. A search without an order begins with those of version 1.0.0 (who has a login name, an
 * address or a nickname that begins so), and ends with who has every word, in the order of one of the words.
 * @param after the number of the part that the page goes on in
 */
export function partsOf(filter: UserFilter, bounds: LockBounds, way: Survey, after: number | undefined): Parts {
  const { sort, query = '', locked } = filter;
  if (sort === undefined && query.trim() !== '') return searchParts(filter, way, after);
  if (sort === undefined && locked === true) return byLastFailure(bounds);
  return sortedParts(filter, sort ?? 'login_name');
}

function searchParts(filter: UserFilter, way: Survey, after = 0): Parts {
  const [loginName, email, nickname] = beginnings(filter.query!);
  const list: Part[] = [
    { number: 0, candidates: byLoginName(filter, false, loginName), conditions: [], has: loginName },
    {
      ...{ number: 1, conditions: [not(loginName)], has: email },
      candidates: { ...ofUsers(filter, 'email_key', [email]), unique: true },
    },
    {
      ...{ number: 2, conditions: [not(loginName), not(email)], has: nickname },
      candidates: ofUsers(filter, 'nickname_key', [nickname], '_uid'),
    },
  ];
  const begun = [loginName, email, nickname].map(({ text, values }, n): Condition => {
    return { text: `WHEN ${text} THEN ${list[n]!.candidates.key}`, values };
  });
  const terms = termsOf(filter.query!);
  const leader = after >= beginningParts ? after - beginningParts : (way?.word ?? longest(terms)[0] ?? 0);
  const term = terms[leader];
  const last = term === undefined ? condition('NULL') : firstWord(firstOf(term));
  if (term !== undefined) {
    list.push({
      number: beginningParts + leader,
      candidates: ofWords(filter, firstOf(term)),
      conditions: [
        ...[loginName, email, nickname].map(not),
        ...terms.filter((one) => one !== term || !isPlain(one)).map(matches),
        isFirstWord('f.k', firstOf(term)),
      ],
      has: condition('TRUE'),
    });
  }
  const key = [...begun, { text: `ELSE ${last.text}`, values: last.values }];
  return {
    list,
    key: { text: `CASE ${key.map(({ text }) => text).join(' ')} END`, values: key.flatMap(({ values }) => values) },
  };
}

/** The locked users, the newest failure first. */
function byLastFailure({ since }: LockBounds): Parts {
  const key = 'last_login_failed_time';
  const candidates: Candidates = {
    ...{ table: 'users', index: `ix_users_${key}_uid`, key, id: 'uid', descending: true, ...times },
    where: [condition(`${key} > ?`, since)],
  };
  return { list: [{ number: 0, candidates, conditions: [], has: condition('TRUE') }], key: condition(key) };
}

/** Users without a time are a part of their own. */
function sortedParts(filter: UserFilter, sort: UserSort): Parts {
  const descending = sort.startsWith('-');
  const sorted = (all: readonly (readonly [Candidates, Condition])[], key: string): Parts => ({
    list: all.map(([candidates, has], number) => ({ number, candidates, conditions: [], has })),
    key: condition(key),
  });
  const always = condition('TRUE');
  switch (sort) {
    case 'login_name':
    case '-login_name': {
      const living = condition('login_name_key < ?', tombstoneKeys);
      return sorted([[byLoginName(filter, descending, living), always]], 'login_name_key');
    }
    case 'created_at':
    case '-created_at': {
      const created = { ...ofUsers(filter, 'created_at', [], '_uid'), ...times, descending };
      return sorted([[created, always]], 'created_at');
    }
    default: {
      const key = 'last_login_success_time';
      const [is, isNot] = [condition(`${key} IS NULL`), condition(`${key} IS NOT NULL`)];
      const never: Candidates = { ...ofUsers(filter, key, [is], '_uid'), key: 'uid', descending };
      const signedIn: Candidates = { ...ofUsers(filter, key, [isNot], '_uid'), ...times, descending };
      const parts = [[never, is] as const, [signedIn, isNot] as const];
      return sorted(descending ? parts.reverse() : parts, key);
    }
  }
}

/** A status has an index with this order. */
function byLoginName(filter: UserFilter, descending: boolean, range: Condition): Candidates {
  const { status } = filter;
  const ofStatus = status === undefined ? [] : [condition('status = ?', status)];
  const named = ofUsers(filter, 'login_name_key', [...ofStatus, range], '', status === undefined ? '' : 'status_');
  return { ...named, descending, unique: true };
}

/** The candidates of an index of `users`, for all tenants or for one. */
function ofUsers(filter: UserFilter, key: string, where: readonly Condition[], end = '', begin = ''): Candidates {
  const tenant = tenantOf(filter);
  const isUnique = tenant === undefined && begin === '' && end === '';
  const columns = `${tenant === undefined ? '' : 'tenant_id_'}${begin}${key}${end}`;
  return {
    ...{ table: 'users', index: `${isUnique ? 'uq' : 'ix'}_users_${columns}`, key, id: 'uid', descending: false },
    where: [...ofTenant(tenant), ...where],
    ...texts,
  };
}

function ofWords(filter: UserFilter, spellings: readonly string[]): Candidates {
  const tenant = tenantOf(filter);
  return {
    ...{ table: 'user_words', index: wordIndex(tenant), key: 'word', id: 'user_id', descending: false },
    where: [...ofTenant(tenant), wordBegins('word', spellings)],
    ...texts,
  };
}

const ofTenant = (tenant: string | undefined): Condition[] =>
  tenant === undefined ? [] : [condition('tenant_id = ?', tenant)];

/** The times that the databases can store. */
const [firstTime, lastTime] = [Date.UTC(1000, 0, 1), Date.UTC(9999, 11, 31)];

type Form = Pick<Candidates, 'keyText' | 'keyValue'>;

const texts: Form = { keyText: String, keyValue: (text: string) => text };
const times: Form = {
  keyText: (key: unknown) => String(timeOf(key).getTime()),
  keyValue: (text: string) => new Date(Math.max(firstTime, Math.min(Number(text) || 0, lastTime))),
};
