import type { SettingsReader } from './settings-reader';

/**
 * Limits in requests per minute, for thousands of people behind one address. The limits that protect secrets are
 * counted in the database.
 */
export abstract class LimitSettings {
  abstract readonly on: boolean;
  abstract readonly login: number;
  abstract readonly otp: number;
  abstract readonly captcha: number;
  abstract readonly forgotPassword: number;
  /** Services and proxies ask about every request of their own users, and all of them have a few addresses. */
  abstract readonly introspection: number;
  abstract readonly other: number;
  /** Refreshes of one session. Each one inserts a row. */
  abstract readonly session: number;
  /**
   * The limit per target: per e-mail address, reset link, or user who is mailed by administrators, from all client addresses
   * together, and per pending login, separately for each mfa_token or client network
   * (docs/spec/decisions.md#pending-login).
   */
  abstract readonly target: number;
}

export function readLimitSettings(env: SettingsReader, production: boolean): LimitSettings {
  return {
    on: env.choice('RATE_LIMIT', ['on', 'off'], production ? 'on' : 'off') === 'on',
    login: env.count('RATE_LIMIT_LOGIN', 600),
    otp: env.count('RATE_LIMIT_OTP', 600),
    captcha: env.count('RATE_LIMIT_CAPTCHA', 600),
    forgotPassword: env.count('RATE_LIMIT_FORGOT_PASSWORD', 300),
    introspection: env.count('RATE_LIMIT_INTROSPECTION', 120_000),
    other: env.count('RATE_LIMIT_OTHER', 3000),
    session: env.count('RATE_LIMIT_SESSION', 120),
    target: env.count('RATE_LIMIT_TARGET', 10),
  };
}
