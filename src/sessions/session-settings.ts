import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class PendingLoginSettings {
  abstract readonly pendingTtlSeconds: number;
  abstract readonly pendingBinding: 'owner' | 'none';
}

export function readPendingLoginSettings(env: SettingsReader): PendingLoginSettings {
  return {
    pendingTtlSeconds: env.count('MFA_PENDING_TTL_SECONDS', 300),
    pendingBinding: env.choice('MFA_PENDING_BINDING', ['owner', 'none'], 'owner'),
  };
}

export abstract class TrustedDeviceSettings {
  /** 0: no device is trusted. */
  abstract readonly trustedDeviceDays: number;
}

export function readTrustedDeviceSettings(env: SettingsReader): TrustedDeviceSettings {
  return { trustedDeviceDays: env.count('MFA_TRUSTED_DEVICE_DAYS', 0, { min: 0, max: 36_500 }) };
}

export abstract class SignInSettings {
  /** Whether the owner gets a mail when a login succeeds from a browser that is new for the account. */
  abstract readonly newSignInNotice: boolean;
}

export function readSignInSettings(env: SettingsReader): SignInSettings {
  return { newSignInNotice: env.flag('NEW_SIGN_IN_NOTICE', false) };
}

export abstract class AdminSettings {
  /** Whether the service has the routes below `/admin/` (docs/spec/extensions.md#d). */
  abstract readonly api: boolean;
  /** Whether the session of an administrator needs a second factor. */
  abstract readonly requiresMfa: boolean;
}

export function readAdminSettings(env: SettingsReader): AdminSettings {
  return {
    api: env.choice('ADMIN_API', ['on', 'off'], 'off') === 'on',
    requiresMfa: env.flag('ADMIN_REQUIRES_MFA', true),
  };
}
