import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class LockSettings {
  abstract readonly maxCount: number;
  abstract readonly windowSeconds: number;
  abstract readonly dormantDays: number;
}

export function readLockSettings(env: SettingsReader): LockSettings {
  return {
    maxCount: env.count('MAX_LOCK_COUNT', 3),
    windowSeconds: env.count('USER_LOCK_TIME', 900),
    dormantDays: env.count('ACCOUNT_DORMANT_DAYS', 180, { min: 0, max: 36_500 }),
  };
}

/** How often a code of the second factor may be guessed. */
export abstract class SecondFactorSettings {
  /** Wrong codes for one code, login or enrolment. */
  abstract readonly maxAttempts: number;
  /** Wrong codes for one account. */
  abstract readonly accountMaxFailures: number;
}

export function readSecondFactorSettings(env: SettingsReader): SecondFactorSettings {
  return {
    maxAttempts: env.count('OTP_MAX_ATTEMPTS', 5),
    accountMaxFailures: env.count('OTP_ACCOUNT_MAX_FAILURES', 10),
  };
}

/** What may be typed as the user name of a login. */
export abstract class LoginNameSettings {
  /** Also the address of a local user (docs/spec/extensions.md#login-by-email). */
  abstract readonly byEmail: boolean;
}

export function readLoginNameSettings(env: SettingsReader): LoginNameSettings {
  return { byEmail: env.flag('LOGIN_BY_EMAIL', true) };
}

export abstract class PrivacySettings {
  abstract readonly hideAccountExistence: boolean;
}

export function readPrivacySettings(env: SettingsReader): PrivacySettings {
  return { hideAccountExistence: env.flag('HIDE_ACCOUNT_EXISTENCE', false) };
}
