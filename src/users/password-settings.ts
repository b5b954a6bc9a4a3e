import type { SettingsReader } from '../platform/config/settings-reader';

export abstract class PasswordSettings {
  /** 0: passwords do not expire. */
  abstract readonly expireDays: number;
  /** The number of last passwords that a new one may not repeat. */
  abstract readonly history: number;
  /** Days before the expiry at which the owner gets a mail, the largest first. Empty: no mails. */
  abstract readonly expiryWarnDays: readonly number[];
}

const longest = 36_500;

export function readPasswordSettings(env: SettingsReader): PasswordSettings {
  return {
    expireDays: env.count('PASSWORD_EXPIRE_DAYS', 90, { min: 0, max: longest }),
    history: env.count('PASSWORD_HISTORY', 3, { min: 0, max: 24 }),
    expiryWarnDays: readWarnDays(env),
  };
}

function readWarnDays(env: SettingsReader): number[] {
  const key = 'PASSWORD_EXPIRY_WARN_DAYS';
  const texts = env.list(key);
  if (texts.length === 0) return [14, 7, 1];
  if (texts.length === 1 && texts[0] === 'off') return [];
  const days = texts.map(Number);
  const valid = texts.every((text) => /^\d{1,5}$/.test(text)) && days.every((day) => day >= 1 && day <= longest);
  if (!valid || new Set(days).size < days.length) {
    env.problem(key, `must be off, or different whole numbers from 1 to ${longest}, separated by commas`);
  }
  return days.sort((a, b) => b - a);
}
