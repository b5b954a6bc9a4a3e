import type { SettingsReader } from './settings-reader';

export interface PasswordConfig {
  /** 0: passwords do not expire. */
  readonly expireDays: number;
  /** The number of last passwords that a new one may not repeat. */
  readonly history: number;
  /** The address of a range of breached passwords, to which five hex digits are appended. */
  readonly breachUrl: string;
  /** Days before the expiry at which the owner gets a mail, the largest first. Empty: no mails. */
  readonly expiryWarnDays: readonly number[];
}

const publicRanges = 'https://api.pwnedpasswords.com/range/';
const longest = 36_500;

export function readPasswordConfig(env: SettingsReader, production: boolean): PasswordConfig {
  return {
    expireDays: env.count('PASSWORD_EXPIRE_DAYS', 90, { min: 0, max: longest }),
    history: env.count('PASSWORD_HISTORY', 3, { min: 0, max: 24 }),
    breachUrl: readBreachUrl(env, production),
    expiryWarnDays: readWarnDays(env),
  };
}

/** Production requires TLS: without it, anybody on the way could call every password safe. */
function readBreachUrl(env: SettingsReader, production: boolean): string {
  const key = 'PASSWORD_BREACH_URL';
  const url = env.url(key, production ? ['https:'] : ['https:', 'http:'], publicRanges);
  if (url.includes('#')) env.problem(key, 'must have no fragment (#): the digits of the hash are appended');
  // A query such as `?prefix=` takes the digits as they are. A path needs a slash, which `url` has removed.
  return url.includes('?') ? url : `${url}/`;
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
