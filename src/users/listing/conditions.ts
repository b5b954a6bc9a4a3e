import type { SqlValue } from '../../platform/database/sql';
import { identityKey } from '../../shared/identity-key';
import type { UserFilter } from './listed-user';

export interface Condition {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface LockBounds {
  readonly maxCount: number;
  readonly since: Date;
}

/** Sorts after every character that a name can have. */
const lastCharacter = '\u{10FFFF}';

export const condition = (text: string, ...values: SqlValue[]): Condition => ({ text, values });

export const notDeleted = condition('deleted_at IS NULL');

/** The conditions of the three parts of a search. */
export function beginnings(query: string): [loginName: Condition, email: Condition, nickname: Condition] {
  const key = identityKey(query);
  return [beginsWith('login_name_key', key), beginsWith('email_key', key), nicknameBegins(query)];
}

export function filtersOf({ status, tenantId, within, provider, locked }: UserFilter, { maxCount, since }: LockBounds) {
  const filters: Condition[] = [];
  if (within !== undefined) filters.push(condition('tenant_id = ?', within));
  if (tenantId !== undefined) filters.push(condition('tenant_id = ?', tenantId));
  if (status !== undefined) filters.push(condition('status = ?', status));
  if (provider !== undefined) filters.push(condition('provider = ?', provider));
  const lock = condition('last_login_failed_time > ? AND login_failed_count >= ?', since, maxCount);
  if (locked !== undefined) filters.push(locked ? lock : not(lock));
  return filters;
}

export const beginsWith = (column: string, key: string): Condition =>
  condition(`${column} >= ? AND ${column} < ?`, key, key + lastCharacter);

/** The database lowers the case of the column and of the typed text, so that they agree. SQLite changes only ASCII. */
const nicknameBegins = (typed: string): Condition =>
  condition('nickname_key >= LOWER(?) AND nickname_key < LOWER(?)', typed, typed + lastCharacter);

export const allOf = (...conditions: readonly Condition[]): Condition => joined(conditions, 'AND');
export const anyOf = (...conditions: readonly Condition[]): Condition => joined(conditions, 'OR');

const joined = (conditions: readonly Condition[], word: 'AND' | 'OR'): Condition => ({
  text: conditions.length === 0 ? 'TRUE' : `(${conditions.map(({ text }) => text).join(` ${word} `)})`,
  values: conditions.flatMap(({ values }) => values),
});

/** The comparison with NULL counts as false. */
export const not = ({ text, values }: Condition): Condition => ({ text: `NOT COALESCE(${text}, FALSE)`, values });
