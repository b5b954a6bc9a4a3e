import { type SqlValue, timeOf } from '../../platform/database/sql';
import { identityKey } from '../../shared/identity-key';
import type { UserFilter } from './listed-user';
import { tombstoneKeys } from '../user-tombstones';

interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** One part of a list, in the order of one index. Each text of a statement is a constant of the code. */
export interface Source {
  /** The column that orders the part. */
  readonly key: string;
  readonly order: string;
  /** The text of a key in a place. */
  readonly keyText: (key: unknown) => string;
  readonly where: readonly Condition[];
  /** The rows after a place in this order. */
  readonly after: (key: string, uid: string) => Condition;
}

export interface LockBounds {
  readonly maxCount: number;
  readonly since: Date;
}

/** The last time that the databases can store. A time before 1970 could have a year that they cannot read. */
const lastTime = Date.UTC(9999, 11, 31);

/** Sorts after every character that a name can have. */
const lastCharacter = '\u{10FFFF}';

const condition = (text: string, ...values: SqlValue[]): Condition => ({ text, values });

const notDeleted = condition('deleted_at IS NULL');

/** A list without a query has one part, a search one for each field. A row belongs to the first part that it matches. */
export function sourcesOf(filter: UserFilter, bounds: LockBounds): readonly Source[] {
  const filters = [notDeleted, ...filtersOf(filter, bounds)];
  const key = identityKey(filter.query ?? '');
  if (key === '') return [filter.locked === true ? byLastFailure(filters) : byUniqueKey('login_name_key', '', filters)];
  const [loginName, email] = [beginsWith('login_name_key', key), beginsWith('email_key', key)];
  return [
    byUniqueKey('login_name_key', key, filters),
    byUniqueKey('email_key', key, [...filters, not(loginName)]),
    byNickname(filter.query!, [...filters, not(loginName), not(email)]),
  ];
}

function filtersOf({ status, tenantId, within, provider, locked }: UserFilter, { maxCount, since }: LockBounds) {
  const filters: Condition[] = [];
  if (within !== undefined) filters.push(condition('tenant_id = ?', within));
  if (tenantId !== undefined) filters.push(condition('tenant_id = ?', tenantId));
  if (status !== undefined) filters.push(condition('status = ?', status));
  if (provider !== undefined) filters.push(condition('provider = ?', provider));
  const lock = condition('last_login_failed_time > ? AND login_failed_count >= ?', since, maxCount);
  if (locked !== undefined) filters.push(locked ? lock : not(lock));
  return filters;
}

/** @param key the beginning of the texts; with none, the tombstones at the end are left out */
function byUniqueKey(column: 'login_name_key' | 'email_key', key: string, where: readonly Condition[]): Source {
  const range = key === '' ? condition(`${column} < ?`, tombstoneKeys) : beginsWith(column, key);
  return {
    key: column,
    order: column,
    keyText: String,
    where: [range, ...where],
    after: (last) => condition(`${column} > ?`, last),
  };
}

/** The database lowers the case of the column and of the typed text, so that they agree. SQLite changes only ASCII. */
function byNickname(typed: string, where: readonly Condition[]): Source {
  const column = 'nickname_key';
  const range = condition(`${column} >= LOWER(?) AND ${column} < LOWER(?)`, typed, typed + lastCharacter);
  return {
    key: column,
    order: `${column}, uid`,
    keyText: String,
    where: [range, ...where],
    after: (last, uid) => condition(`${column} >= ? AND (${column} > ? OR uid > ?)`, last, last, uid),
  };
}

function byLastFailure(where: readonly Condition[]): Source {
  const column = 'last_login_failed_time';
  return {
    key: column,
    order: `${column} DESC, uid DESC`,
    keyText: (key) => String(timeOf(key).getTime()),
    where,
    after: (last, uid) => {
      const at = new Date(Math.max(0, Math.min(Number(last) || 0, lastTime)));
      return condition(`${column} <= ? AND (${column} < ? OR uid < ?)`, at, at, uid);
    },
  };
}

const beginsWith = (column: string, key: string): Condition =>
  condition(`${column} >= ? AND ${column} < ?`, key, key + lastCharacter);

/** The comparison with NULL counts as false. */
const not = ({ text, values }: Condition): Condition => ({ text: `NOT COALESCE(${text}, FALSE)`, values });
