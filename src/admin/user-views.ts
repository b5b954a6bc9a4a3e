import type { LogoutReceipt } from '../applications/logout-tokens';
import type { PastLogin } from '../audit/login-log.repository';
import type { UserSession } from '../sessions/user-sessions';
import { listedFields, shownFields } from '../users/user-fields';
import type { ListedUser } from '../users/user-listing';
import { wired } from '../users/user-wire';
import type { UserDetail } from './admin-users';
import type { AdminLogoutItem } from './http/user-logouts.dto';
import type { AdminSessionItem, AdminUser, AdminUserItem, AdminUserLogin } from './http/users.dto';

export function userItem({ locked, lastLoginAt, ...user }: ListedUser): AdminUserItem {
  return { ...wired({ ...user, lastLoginSuccessTime: lastLoginAt }, listedFields), locked };
}

export function userDetail({ user, listed, recoveryCodesLeft, passkeys, sessions, devices }: UserDetail): AdminUser {
  return {
    ...userItem(listed),
    ...wired(user, shownFields),
    password_set_at: user.passwordSetAt?.toISOString() ?? null,
    totp_enrolled: user.totpSecret !== null,
    recovery_codes_left: recoveryCodesLeft,
    passkeys,
    sessions,
    devices,
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

export const logoutItem = (receipt: LogoutReceipt): AdminLogoutItem => ({
  id: receipt.id,
  sid: receipt.sid,
  application: receipt.application,
  created_at: receipt.createdAt.toISOString(),
  status: receipt.status,
  attempts: receipt.attempts,
  answered_at: receipt.answeredAt?.toISOString() ?? null,
  answer: receipt.answer,
});
