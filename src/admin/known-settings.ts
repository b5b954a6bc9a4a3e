import { sealSmtpSecret } from '../mail/smtp-secret';
import { parsePasswordPolicy } from '../password-reset/password-policy';
import type { KeyRing } from '../platform/crypto/key-ring';
import { mailboxOf } from '../shared/mail-address';

/** A setting that is not stored. The message is one line for a person and never contains the value. */
export class SettingProblem extends Error {
  override readonly name = 'SettingProblem';

  /** @param part what is wrong: the group, the key or the value */
  constructor(
    message: string,
    readonly part: 'group' | 'key' | 'value',
  ) {
    super(message);
  }
}

/** Checks one value and returns the form to store. @throws Error with one line for a person, without the value */
type Check = (value: string) => string;

/** The settings that this service reads. A wrong value is refused when it is written, not when it is needed. */
const known: Readonly<Record<string, Check>> = {
  'CONFIG PASSWORD_POLICY': (value) => JSON.stringify(parsePasswordPolicy(value)),
  'SMTP HOST': matching(/^[^\s/@]{1,255}$/, 'a host name or an address'),
  'SMTP PORT': (value) => {
    const wellFormed = /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535;
    if (!wellFormed) throw new Error('it must be a whole number from 1 to 65535');
    return value;
  },
  'SMTP SENDER': (value) => {
    if (mailboxOf(value) === undefined) throw new Error('it must be an address, or a name and <address>');
    return value;
  },
  'SMTP USER': matching(/^\P{Cc}{1,255}$/u, '1 to 255 characters'),
  'SMTP TLS': (value) => matching(/^(none|starttls|tls)$/, 'none, starttls or tls')(value.toLowerCase()),
};

/** Every setting that can be written. */
export const knownSettings = [...Object.keys(known), 'SMTP SECRET'].map((name) => {
  const [group, key] = name.split(' ') as [group: string, key: string];
  return { group, key };
});

/**
 * Returns the form in which the value is stored.
 * @throws SettingProblem for an unknown group or key and for a wrong value
 */
export function storable(keys: KeyRing, group: string, key: string, value: string): string {
  assertWellFormed(group, key);
  assertKnown(group, key);
  if (isSecret(group, key)) return sealedSecret(keys, value);
  try {
    return known[`${group} ${key}`]!(value.trim());
  } catch (error) {
    throw new SettingProblem(`${group} ${key} was not changed: ${(error as Error).message}`, 'value');
  }
}

/** Spaces are refused too: MariaDB finds the row of `SMTP` for `SMTP `, and the secret of `SMTP ` would be printed. */
export function assertWellFormed(group: string, key: string): void {
  for (const [part, text] of [['group', group] as const, ['key', key] as const]) {
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(text)) {
      throw new SettingProblem('group and key must have 1 to 64 letters, digits, dots, dashes or underscores', part);
    }
  }
}

/** Refuses an unknown group or key, for example a misspelt one, because the service would never read its value. */
export function assertKnown(group: string, key: string): void {
  const groups = [...new Set(knownSettings.map((one) => one.group))];
  if (!groups.includes(group))
    throw new SettingProblem(`there is no group ${group}: give ${groups.join(' or ')}`, 'group');
  const keys = knownSettings.filter((one) => one.group === group).map((one) => one.key);
  if (!keys.includes(key)) throw new SettingProblem(`${group} has no key ${key}: give ${keys.join(', ')}`, 'key');
}

/** A secret is written and never read. */
export const isSecret = (group: string, key: string): boolean => group === 'SMTP' && key === 'SECRET';

/** From the weakest to the strongest one. Without TLS, the service uses STARTTLS only where the server offers it. */
const tlsModes = ['none', 'starttls', 'tls'];

/**
 * Where the password of the mail server goes depends on HOST and PORT, and who can read it on TLS.
 * @param value the new value, or undefined when the setting is removed
 * @returns the former values with which SMTP SECRET may stay, or undefined when it may stay with any of them
 */
export function valuesKeepingSecret(
  group: string,
  key: string,
  value: string | undefined,
): readonly string[] | undefined {
  if (group !== 'SMTP' || !['HOST', 'PORT', 'TLS'].includes(key)) return undefined;
  if (value === undefined) return [];
  if (key !== 'TLS') return [value];
  return value === tlsModes.at(-1) ? undefined : tlsModes.slice(0, tlsModes.indexOf(value) + 1);
}

/** The value is not trimmed, because a password may begin or end with a space. */
function sealedSecret(keys: KeyRing, value: string): string {
  if (value === '') throw new SettingProblem('SMTP SECRET was not changed: it is empty', 'value');
  return sealSmtpSecret(keys, value);
}

function matching(pattern: RegExp, what: string): Check {
  return (value) => {
    if (!pattern.test(value)) throw new Error(`it must be ${what}`);
    return value;
  };
}
