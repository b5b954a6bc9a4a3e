import type { SettingsReader } from '../platform/config/settings-reader';

/** Who is asked for a second factor at a login with a password (docs/spec/extensions.md#mfa-enrolled). */
const rules = { false: 'never', enrolled: 'enrolled', true: 'always' } as const;
export type MfaRule = (typeof rules)[keyof typeof rules];

export abstract class MfaSettings {
  abstract readonly rule: MfaRule;
  abstract readonly cooldownSeconds: number;
  abstract readonly codeTtlSeconds: number;
  abstract readonly totpIssuer: string;
  abstract readonly totpWindow: number;
  abstract readonly enrolmentTtlSeconds: number;
  abstract readonly enrolmentBinding: 'bearer' | 'ip';
}

export function readMfaSettings(env: SettingsReader): MfaSettings {
  return {
    rule: rules[env.choice('MFA_REQUIRED', ['true', 'false', 'enrolled'], 'false')],
    cooldownSeconds: env.count('OTP_COOLDOWN_SECONDS', 60),
    codeTtlSeconds: env.count('OTP_TTL_SECONDS', 300),
    totpIssuer: env.text('TOTP_ISSUER', 'Portal'),
    totpWindow: env.count('TOTP_WINDOW', 1, { min: 0, max: 10 }),
    enrolmentTtlSeconds: env.count('TOTP_ENROLMENT_TTL_SECONDS', 300),
    enrolmentBinding: env.choice('TOTP_ENROLMENT_BINDING', ['bearer', 'ip'], 'bearer'),
  };
}
