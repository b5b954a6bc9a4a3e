import type { SettingsReader } from './settings-reader';

export interface AdminConfig {
  /** Whether the service has the routes below `/admin/` (docs/spec/extensions.md#d). */
  readonly api: boolean;
  /** Whether the session of an administrator needs a second factor. */
  readonly requiresMfa: boolean;
}

export function readAdminConfig(env: SettingsReader): AdminConfig {
  return {
    api: env.choice('ADMIN_API', ['on', 'off'], 'off') === 'on',
    requiresMfa: env.flag('ADMIN_REQUIRES_MFA', true),
  };
}
