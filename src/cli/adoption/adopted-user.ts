import { rootTenant } from '../../platform/settings/system-settings';
import { AccountProblem, assertWellFormed, type NewUser } from '../../users/user-accounts';
import { adoptedFields, byField, textFields } from '../../users/user-fields';
import { fileNameOf } from '../../users/user-wire';
import { userStatus } from '../../users/user.entity';
import { asHash, assertPast, asUserId, pastTime } from '../../admin/import-fields';
import type { AdoptedColumn, AdoptionPlan } from './adoption-plan';
import type { AdoptedRow } from './source-table';

type AdoptedField = (typeof adoptedFields)[number];

const adoptedTexts = textFields.filter((field): field is Extract<typeof field, AdoptedField> =>
  (adoptedFields as readonly string[]).includes(field),
);

/**
 * The user that a row of the source describes.
 * @throws AccountProblem when the row cannot be adopted. The message shows no hash.
 */
export function adoptedUser(row: AdoptedRow, plan: AdoptionPlan, now: Date): NewUser {
  const passwordHash = hashOf(row, plan);
  const adopted = {
    ...byField(adoptedTexts, (field) => filled(row, fileNameOf(field)) ?? null),
    // An empty id is not a missing one: the rows of the other system that name it would be lost.
    uid: asUserId(textOf(row, 'uid')),
    loginName: filled(row, 'login_name') ?? '',
    email: filled(row, 'email') ?? null,
    createdAt: timeOf(row, 'created_at', now),
    lastLoginSuccessTime: timeOf(row, 'last_login_success_time', now),
    legacyLogin: flagOf(row, 'legacy_login'),
    status: plan.columns.has('status') ? statusOf(row, plan) : userStatus.enabled,
  } satisfies Record<AdoptedField, unknown>;
  const user: NewUser = {
    ...adopted,
    passwordHash,
    passwordSetAt: timeOf(row, 'password_set_at', now),
    temporary: false,
    mfaType: 'email',
    provider: 'password',
    isAdmin: false,
    tenantId: rootTenant,
    orgUnitId: null,
  };
  assertWellFormed(user);
  return user;
}

function hashOf(row: AdoptedRow, plan: AdoptionPlan): string | null {
  const given = filled(row, 'password_hash');
  if (given === undefined) return null;
  const { algorithm, hash } = asHash('password_hash', given);
  if (plan.algorithm === undefined || algorithm === plan.algorithm) return hash;
  throw new AccountProblem(`password_hash is of ${algorithm}, and hash.algorithm is ${plan.algorithm}`);
}

/** For the report: what names the row, as far as it can be read. */
export function labelOf(row: AdoptedRow): { uid: string | null; login_name: string | null } {
  const readable = (key: AdoptedColumn) => {
    try {
      return textOf(row, key)?.slice(0, 255) ?? null;
    } catch {
      return null;
    }
  };
  return { uid: readable('uid'), login_name: readable('login_name') };
}

/** Undefined for NULL. @throws AccountProblem when the value is not text */
function textOf(row: AdoptedRow, key: AdoptedColumn): string | undefined {
  const value = row[key] ?? null;
  if (value === null) return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  // Columns with a binary collation, for example VARBINARY, also hold text.
  if (Buffer.isBuffer(value)) {
    const text = value.toString('utf8');
    if (Buffer.from(text).equals(value)) return text;
  }
  throw new AccountProblem(`${key} must be text`);
}

function filled(row: AdoptedRow, key: AdoptedColumn): string | undefined {
  return textOf(row, key) || undefined;
}

/** A date of zeros, which old versions of MySQL store for "never", counts as missing. */
function timeOf(row: AdoptedRow, key: AdoptedColumn, now: Date): Date | undefined {
  const value = row[key];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : assertPast(key, value, now);
  const text = filled(row, key);
  return text === undefined || text.startsWith('0000-00-00') ? undefined : pastTime(key, text, now);
}

function flagOf(row: AdoptedRow, key: AdoptedColumn): boolean {
  const value = textOf(row, key) ?? '0';
  if (value === '1' || value === '0') return value === '1';
  throw new AccountProblem(`${key} must be 1 or 0`);
}

function statusOf(row: AdoptedRow, { statuses }: AdoptionPlan): number {
  const value = textOf(row, 'status') ?? 'null';
  const allowed: readonly number[] = Object.values(userStatus);
  const status = statuses === undefined ? allowed.find((known) => String(known) === value) : statuses.get(value);
  if (status !== undefined) return status;
  const printed = JSON.stringify(value.slice(0, 50));
  throw new AccountProblem(
    statuses === undefined
      ? `status ${printed} is not 1, 0, -1 or -2: give columns.status a map`
      : `status ${printed} is not in columns.status.map`,
  );
}
