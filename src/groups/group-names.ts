import type { Sql } from '../platform/database/sql';
import { filledUp } from '../platform/database/statement-keys';
import { mostGroupsOfUser } from './group-change';
import type { GroupSource } from './group.entity';

/**
 * Separates the parts of a name at its commas. No name has a line break (`groupName`), so the text of a list is read back
 * as it was written.
 */
const comma = '\n';

/**
 * The names of the groups of a user, for the statement that checks a token. Null for a user who is in none, without a
 * look for one who never was: most are in none where nobody uses groups. The default separator of GROUP_CONCAT is a comma
 * in each database, and its own syntax for another one differs. A membership in a group of another tenant does not count.
 * @param users the alias of the table `users`
 */
export const groupNamesOf = (users: string): string =>
  `(CASE WHEN ${users}.in_groups = 0 THEN NULL ELSE
     (SELECT GROUP_CONCAT(REPLACE(g.name, ',', '${comma}'))
      FROM user_group_members m JOIN user_groups g ON g.id = m.group_id AND g.tenant_id = ${users}.tenant_id
      WHERE m.user_id = ${users}.uid) END)`;

/** @param value what `groupNamesOf` selects @returns the names, sorted */
export function groupNames(value: unknown): string[] {
  if (typeof value !== 'string') return [];
  return value
    .split(',')
    .map((name) => name.replaceAll(comma, ','))
    .sort();
}

/** A group of a user, as far as a list shows it. */
export interface GroupOfUser {
  readonly uid: string;
  readonly id: string;
  readonly name: string;
  readonly nameKey: string;
  readonly tenantId: string;
  readonly source: GroupSource;
  readonly ownerId: string | null;
}

/** The groups of several users, in the order of their names. @param uids at least one */
export function groupsOfUsers(sql: Sql, uids: readonly string[]): Promise<GroupOfUser[]> {
  const keys = filledUp(uids);
  return sql.rows(
    `SELECT m.user_id AS uid, g.id, g.name, g.name_key AS nameKey, g.tenant_id AS tenantId, g.source, g.owner_id AS ownerId
     FROM user_group_members m JOIN user_groups g ON g.id = m.group_id
     WHERE m.user_id IN (${keys.map(() => '?').join(', ')}) ORDER BY g.name_key`,
    keys,
  );
}

/** Those of these users who are members of as many groups as a user can be. */
export const fullUsers = (sql: Sql, uids: readonly string[]): Promise<{ uid: string }[]> =>
  sql.rows(
    `SELECT user_id AS uid FROM user_group_members WHERE user_id IN (${uids.map(() => '?').join(', ')})
     GROUP BY user_id HAVING COUNT(*) >= ${mostGroupsOfUser}`,
    uids,
  );
