import type { INestApplicationContext } from '@nestjs/common';
import { mailboxOf } from '../shared/mail-address';
import { sealSmtpSecret } from '../mail/smtp-secret';
import { parsePasswordPolicy } from '../password-reset/password-policy';
import { KeyRing } from '../platform/crypto/key-ring';
import { CliProblem } from './cli-context';

/** Checks one value and returns the form to store. @throws Error with one line for the operator, without the value */
type Check = (value: string) => string;

/** The settings that this service reads. A wrong value is refused when it is written, not when it is needed. */
const known: Readonly<Record<string, Check>> = {
  'CONFIG PASSWORD_POLICY': (value) => JSON.stringify(parsePasswordPolicy(value)),
  'SMTP HOST': matching(/^[^\s/@]{1,255}$/, 'a host name or an address'),
  'SMTP PORT': (value) => {
    const wellFormed = /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535;
    if (!wellFormed) throw new CliProblem('it must be a whole number from 1 to 65535');
    return value;
  },
  'SMTP SENDER': (value) => {
    if (mailboxOf(value) === undefined) throw new CliProblem('it must be an address, or a name and <address>');
    return value;
  },
  'SMTP USER': matching(/^\P{Cc}{1,255}$/u, '1 to 255 characters'),
  'SMTP TLS': (value) => matching(/^(none|starttls|tls)$/, 'none, starttls or tls')(value.toLowerCase()),
};

const names = [...Object.keys(known), 'SMTP SECRET'].map((name) => name.split(' ') as [group: string, key: string]);

/**
 * Returns the form in which the value is stored.
 * @throws CliProblem for an unknown group or key and for a wrong value
 */
export function storable(context: INestApplicationContext, group: string, key: string, value: string): string {
  assertWellFormed(group, key);
  assertKnown(group, key);
  if (isSecret(group, key)) return sealedSecret(context, value);
  try {
    return known[`${group} ${key}`]!(value.trim());
  } catch (error) {
    throw new CliProblem(`${group} ${key} was not changed: ${(error as Error).message}`);
  }
}

/** Spaces are refused too: MariaDB finds the row of `SMTP` for `SMTP `, and the secret of `SMTP ` would be printed. */
export function assertWellFormed(group: string, key: string): void {
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(group) || !/^[A-Za-z0-9_.-]{1,64}$/.test(key)) {
    throw new CliProblem('group and key must have 1 to 64 letters, digits, dots, dashes or underscores');
  }
}

/** A secret is never printed. */
export function shown(group: string, key: string, value: string): string {
  return isSecret(group, key) ? '(hidden)' : value;
}

const isSecret = (group: string, key: string) => group === 'SMTP' && key === 'SECRET';

/** The value is not trimmed, because a password may begin or end with a space. */
function sealedSecret(context: INestApplicationContext, value: string): string {
  if (value === '') throw new CliProblem('SMTP SECRET was not changed: it is empty');
  return sealSmtpSecret(context.get(KeyRing), value);
}

/** Refuses an unknown group or key, for example a misspelt one, because the service would never read its value. */
function assertKnown(group: string, key: string): void {
  const groups = [...new Set(names.map(([one]) => one))];
  if (!groups.includes(group)) throw new CliProblem(`there is no group ${group}: give ${groups.join(' or ')}`);
  const keys = names.filter(([one]) => one === group).map(([, one]) => one);
  if (!keys.includes(key)) throw new CliProblem(`${group} has no key ${key}: give ${keys.join(', ')}`);
}

function matching(pattern: RegExp, what: string): Check {
  return (value) => {
    if (!pattern.test(value)) throw new CliProblem(`it must be ${what}`);
    return value;
  };
}
