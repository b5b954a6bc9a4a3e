import type { OffboardingReceipt } from '../offboarding/offboarding-receipts';
import type { LogoutReceipt } from '../applications/logout-tokens';
import type { PastLogin } from '../audit/login-log.repository';
import type { UserSession } from '../sessions/user-sessions';
import { listedFields, shownFields } from '../users/user-fields';
import type { ListedUser } from '../users/user-listing';
import { wired } from '../users/user-wire';
import type { UserDetail } from './admin-users';
import type { AdminOffboardingItem, AdminOffboardings } from './http/offboarding.dto';
import type { AdminLogoutItem } from './http/user-logouts.dto';
import type { AdminSessionItem, AdminUser, AdminUserItem, AdminUserLogin } from './http/users.dto';

export function userItem({ locked, lastLoginAt, ...user }: ListedUser): AdminUserItem {
  return { ...wired({ ...user, lastLoginSuccessTime: lastLoginAt }, listedFields), locked };
}

export function userDetail({ user, listed, ...detail }: UserDetail): AdminUser {
  const { dormant, recoveryCodesLeft, passkeys, sessions, devices, groups } = detail;
  return {
    ...userItem(listed),
    ...wired(user, shownFields),
    password_set_at: user.passwordSetAt?.toISOString() ?? null,
    dormant,
    totp_enrolled: user.totpSecret !== null,
    recovery_codes_left: recoveryCodesLeft,
    passkeys,
    sessions,
    devices,
    groups: groups.map(({ id, name, source }) => ({ id, name, source })),
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

/** @param receipts the newest first */
export function offboardingsOf(receipts: readonly OffboardingReceipt[]): AdminOffboardings {
  const [newest = null, ...earlier] = receipts.map(offboardingItem);
  return { offboarding: newest, earlier };
}

const offboardingItem = (receipt: OffboardingReceipt): AdminOffboardingItem => ({
  id: receipt.id,
  via: receipt.via,
  began_by: receipt.beganBy,
  began_at: receipt.beganAt.toISOString(),
  steps: receipt.steps,
  receivers: receipt.receivers,
  complete: receipt.complete,
  completed_at: receipt.completedAt?.toISOString() ?? null,
  seconds: receipt.seconds,
  given_up: receipt.givenUp,
  restored_at: receipt.restoredAt?.toISOString() ?? null,
  restored_by: receipt.restoredBy,
});
