import type { AuditEvent } from '../audit/audit-trail';

/**
 * The `type` of each audit event for other systems. A receiver switches on these names, so they are final. An audit
 * event without a line here does not compile. docs/operations/events.md explains each one.
 */
export const auditTypes: Readonly<Record<AuditEvent, string>> = {
  USER_RESET_PASSWORD: 'user.password_reset_requested',
  USER_PASSWORD_CHANGED: 'user.password_changed',
  USER_PASSWORD_SET_BY_OPERATOR: 'user.password_set_by_operator',
  USER_CREATED: 'user.created',
  USER_INVITED: 'user.invited',
  USER_IMPORTED: 'user.imported',
  USER_STATUS_CHANGED: 'user.status_changed',
  USER_UNLOCKED: 'user.unlocked',
  USER_TOKENS_REVOKED: 'user.tokens_revoked',
  USER_PROVISIONED: 'user.provisioned',
  USER_PROVISIONING_REFUSED: 'user.provisioning_refused',
  CURRENT_PASSWORD_WRONG: 'user.current_password_wrong',
  USER_DIRECTORY_BOUND: 'user.directory_bound',
  USER_DIRECTORY_REFUSED: 'user.directory_refused',
  USER_DIRECTORY_SYNCED: 'user.directory_synced',
  USER_ADMIN_CHANGED: 'user.admin_changed',
  USER_DIRECTORY_SESSIONS_ENDED: 'user.directory_sessions_ended',
  SESSION_CLOSED: 'session.closed',
  OTHER_SESSIONS_CLOSED: 'session.others_closed',
  REFRESH_TOKEN_REUSED: 'session.refresh_token_reused',
  MFA_CODE_SENT: 'mfa.code_sent',
  MFA_CODE_WRONG: 'mfa.code_wrong',
  MFA_BUDGET_EXHAUSTED: 'mfa.budget_exhausted',
  MFA_TYPE_CHANGED: 'mfa.type_changed',
  TOTP_ENROLMENT_OPENED: 'totp.enrolment_opened',
  TOTP_ENROLLED: 'totp.enrolled',
  TOTP_REPLACED: 'totp.replaced',
  TOTP_RESET: 'totp.reset',
  RECOVERY_CODES_CREATED: 'recovery_codes.created',
  RECOVERY_CODE_USED: 'recovery_codes.used',
  RECOVERY_CODES_REVOKED: 'recovery_codes.revoked',
  TRUSTED_DEVICE_ADDED: 'trusted_device.added',
  TRUSTED_DEVICE_REMOVED: 'trusted_device.removed',
  TRUSTED_DEVICES_REVOKED: 'trusted_device.all_revoked',
  TRUSTED_DEVICE_TOKEN_REUSED: 'trusted_device.token_reused',
  CONFIG_CHANGED: 'config.changed',
  PURGE_STARTED: 'maintenance.purge_started',
  RESEAL_STARTED: 'maintenance.reseal_started',
};

export const loginTypes = { success: 'login.succeeded', failure: 'login.failed' } as const;
