import type { PastLogin } from '../../audit/login-log.repository';
import type { UserSession } from '../../sessions/user-sessions';
import type { ListedUser } from '../../users/user-listing';
import type { UserDetail } from '../admin-users';
import type { AdminSessionItem, AdminUser, AdminUserItem, AdminUserLogin } from './users.dto';

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;

export function userItem(user: ListedUser): AdminUserItem {
  return {
    uid: user.uid,
    login_name: user.loginName,
    email: user.email,
    nickname: user.nickname,
    status: user.status,
    provider: user.provider,
    is_admin: user.isAdmin,
    mfa_type: user.mfaType,
    tenant_id: user.tenantId,
    org_unit_id: user.orgUnitId,
    locked: user.locked,
    created_at: user.createdAt.toISOString(),
    last_login_at: timeOf(user.lastLoginAt),
  };
}

export function userDetail({ user, listed, recoveryCodesLeft, passkeys, sessions, devices }: UserDetail): AdminUser {
  return {
    ...userItem(listed),
    must_change_password: user.mustChangePassword,
    password_set_at: timeOf(user.passwordSetAt),
    failed_logins: user.loginFailedCount,
    last_failed_login_at: timeOf(user.lastLoginFailedTime),
    totp_enrolled: user.totpSecret !== null,
    recovery_codes_left: recoveryCodesLeft,
    passkeys,
    sessions,
    devices,
    directory_id: user.directoryId,
  };
}

export function sessionItem({ sid, createdAt, lastUsedAt, ip, userAgent, amr }: UserSession): AdminSessionItem {
  return {
    sid,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt.toISOString(),
    ip,
    user_agent: userAgent,
    amr,
  };
}

export function loginItem({ id, createdAt, ip, userAgent, provider, mfa, outcome }: PastLogin): AdminUserLogin {
  return { id: String(id), created_at: createdAt.toISOString(), ip, user_agent: userAgent, provider, mfa, outcome };
}
