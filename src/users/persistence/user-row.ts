import { timeOf, timeOrNull } from '../../platform/database/sql';
import { User } from '../user.entity';

type Times =
  | 'lastLoginFailedTime'
  | 'lastLoginSuccessTime'
  | 'mfaBlockedUntil'
  | 'directorySeenAt'
  | 'directoryLookUntil'
  | 'createdAt'
  | 'deletedAt'
  | 'passwordSetAt';
type Flags = 'isAdmin' | 'mustChangePassword';

/** A row as the drivers return it. The drivers differ in the types of times and flags. */
export type UserRow = Omit<User, Times | Flags> & Record<Times | Flags, unknown>;

/** The columns of a user, each under the name of its property, and the time of the newest password change. */
const columns = `uid, login_name AS loginName, login_name_key AS loginNameKey, email, email_key AS emailKey, nickname,
  password, salt, status, login_failed_count AS loginFailedCount, last_login_failed_time AS lastLoginFailedTime,
  last_login_success_time AS lastLoginSuccessTime, mfa_type AS mfaType, topt_secret AS totpSecret,
  mfa_failed_count AS mfaFailedCount, mfa_blocked_until AS mfaBlockedUntil, provider, is_admin AS isAdmin,
  must_change_password AS mustChangePassword, credential_version AS credentialVersion, tenant_id AS tenantId,
  org_unit_id AS orgUnitId, directory_id AS directoryId, directory_seen_at AS directorySeenAt,
  directory_look_until AS directoryLookUntil, created_at AS createdAt, deleted_at AS deletedAt,
  (SELECT l.created_at FROM user_change_pwd_logs l WHERE l.user_id = users.uid ORDER BY l.id DESC LIMIT 1) AS passwordSetAt`;

export type UserKey = 'uid' | 'login_name_key' | 'email_key' | 'directory_id';

/** Reads a user by one of its unique keys. */
export const selectUserBy = (key: UserKey) => `SELECT ${columns} FROM users WHERE ${key} = ?`;

/**
 * Converts the times and flags of a row. Every login reads a user, so the read does not go through TypeORM: its query
 * builder takes three times the processor time (0.09 instead of 0.03 ms a row, with 2,000 rows in SQLite in memory,
 * median of five), and it sends the statement unprepared.
 */
export function userOf(row: UserRow): User {
  return Object.assign(new User(), row, {
    lastLoginFailedTime: timeOrNull(row.lastLoginFailedTime),
    lastLoginSuccessTime: timeOrNull(row.lastLoginSuccessTime),
    mfaBlockedUntil: timeOrNull(row.mfaBlockedUntil),
    directorySeenAt: timeOrNull(row.directorySeenAt),
    directoryLookUntil: timeOrNull(row.directoryLookUntil),
    createdAt: timeOf(row.createdAt),
    deletedAt: timeOrNull(row.deletedAt),
    passwordSetAt: timeOrNull(row.passwordSetAt),
    isAdmin: Number(row.isAdmin) === 1,
    mustChangePassword: Number(row.mustChangePassword) === 1,
  });
}
