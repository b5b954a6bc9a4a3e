import { type ImportableHash, importableHash } from '../hashing/importable-hash';
import { UnusableHash } from '../hashing/foreign-hash';
import { totpSecretOf, UnusableTotp } from '../mfa/brought-totp';
import { isUserId } from '../shared/user-id';
import { AccountProblem } from '../users/user-accounts';
import type { Fields } from './import-rows';

/** A missing value, null and an empty text are all undefined. @throws AccountProblem when the value is not text */
export function asText(fields: Fields, key: string): string | undefined {
  const value = fields[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'object') throw new AccountProblem(`${key} must be text`);
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @throws AccountProblem */
export function asChoice<T extends string>(fields: Fields, key: string, allowed: readonly T[], fallback: T): T {
  const value = asText(fields, key) ?? fallback;
  if (!(allowed as readonly string[]).includes(value))
    throw new AccountProblem(`${key} must be one of ${allowed.join(', ')}`);
  return value as T;
}

/** @throws AccountProblem */
export function asFlag(fields: Fields, key: string): boolean {
  return ['true', '1'].includes(asChoice(fields, key, ['true', 'false', '1', '0'] as const, 'false'));
}

/** @throws AccountProblem for an id that the endpoints would not accept */
export function asUserId(text: string | undefined): string | undefined {
  if (text === undefined || isUserId(text)) return text;
  throw new AccountProblem('uid must have 1 to 36 characters out of A-Z, a-z, 0-9, _ and -');
}

/** @throws AccountProblem for a hash that this service cannot verify. The message does not show the hash. */
export function asHash(key: string, hash: string): ImportableHash {
  try {
    return importableHash(hash);
  } catch (error) {
    if (error instanceof UnusableHash) throw new AccountProblem(`${key} cannot be used: ${error.message}`);
    throw error;
  }
}

/** @throws AccountProblem for a secret that this service cannot use. The message does not show it. */
export function asTotp(fields: Fields, key: string): string | undefined {
  const text = asText(fields, key);
  try {
    return text === undefined ? undefined : totpSecretOf(text);
  } catch (error) {
    if (error instanceof UnusableTotp) throw new AccountProblem(`${key} cannot be used: ${error.message}`);
    throw error;
  }
}

const format = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d:\d\d)?)?$/;
const earliest = Date.UTC(1970, 0, 1);
/** Another system may have written local times, which are ahead of UTC by up to 14 hours. */
const toleranceMs = 86_400_000;

/**
 * Reads a time in the past: `2024-05-01T10:00:00Z`, another offset, or without an offset for UTC.
 * @throws AccountProblem
 */
export function pastTime(key: string, text: string, now: Date): Date {
  const [, date, time = '00:00', zone = 'Z'] = format.exec(text) ?? [];
  const parsed = new Date(date === undefined ? NaN : `${date}T${time}${zone}`);
  // `2024-02-30` would become the first of March.
  const isDay = date !== undefined && new Date(`${date}T00:00Z`).toJSON()?.startsWith(date);
  if (!isDay || Number.isNaN(parsed.getTime())) {
    throw new AccountProblem(`${key} must be a time such as 2024-05-01T10:00:00Z`);
  }
  return assertPast(key, parsed, now);
}

/** @throws AccountProblem */
export function assertPast(key: string, time: Date, now: Date): Date {
  if (time.getTime() >= earliest && time.getTime() <= now.getTime() + toleranceMs) return time;
  throw new AccountProblem(`${key} must be a time from 1970 to today`);
}
