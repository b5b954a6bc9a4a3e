import { timeOf, timeOrNull } from '../../platform/database/sql';
import type { ListedUser } from '../user-listing';
import { notLocked } from '../users.repository';

export type ListedRow = Omit<ListedUser, 'isAdmin' | 'locked' | 'createdAt' | 'lastLoginAt'> &
  Record<'isAdmin' | 'notLocked' | 'createdAt' | 'lastLoginAt' | 'pageKey', unknown>;

/** The columns of a row. The values are those of `notLocked`. No secret is among them. */
export const listedColumns = `uid, login_name AS loginName, email, nickname, status, provider, is_admin AS isAdmin,
       mfa_type AS mfaType, tenant_id AS tenantId, org_unit_id AS orgUnitId, created_at AS createdAt,
       last_login_success_time AS lastLoginAt, ${notLocked} AS notLocked`;

export function listedUser(row: ListedRow): ListedUser {
  const { uid, loginName, email, nickname, status, provider, mfaType, tenantId, orgUnitId } = row;
  return {
    ...{ uid, loginName, email, nickname, status, provider, mfaType, tenantId, orgUnitId },
    isAdmin: Number(row.isAdmin) === 1,
    locked: Number(row.notLocked) !== 1,
    createdAt: timeOf(row.createdAt),
    lastLoginAt: timeOrNull(row.lastLoginAt),
  };
}
