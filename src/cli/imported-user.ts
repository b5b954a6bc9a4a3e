import type { PasswordOwner } from '../password-reset/password-checks';
import { rootTenant } from '../platform/settings/system-settings';
import { AccountProblem, type NewUser } from '../users/user-accounts';
import { asChoice, asFlag, assertImportable, asText, asUserId, pastTime } from './import-fields';
import type { Fields } from './import-rows';

/** Who a row is about. */
export type Identity = Pick<NewUser, 'loginName' | 'uid'>;

const keys = new Set([
  'uid',
  'login_name',
  'email',
  'password',
  'password_hash',
  'password_set_at',
  'nickname',
  'status',
  'mfa_type',
  'provider',
  'is_admin',
  'tenant_id',
  'org_unit_id',
  'temporary',
  'created_at',
  'last_login_success_time',
]);

/** @throws AccountProblem */
export function identityOf(fields: Fields): Identity {
  const unknown = Object.keys(fields).find((key) => !keys.has(key));
  if (unknown !== undefined) throw new AccountProblem(`unknown key ${JSON.stringify(unknown)}`);
  return { loginName: asText(fields, 'login_name') ?? '', uid: asUserId(asText(fields, 'uid')) };
}

/**
 * @param hash makes the hash of a plain password
 * @throws AccountProblem
 */
export async function userOf(
  fields: Fields,
  identity: Identity,
  now: Date,
  hash: (password: string, owner: PasswordOwner) => Promise<string>,
): Promise<NewUser> {
  const { loginName } = identity;
  if (loginName.trim() === '') throw new AccountProblem('login_name is missing');
  const owner = { loginName, email: asText(fields, 'email') ?? null, nickname: asText(fields, 'nickname') ?? null };
  const timeOf = (key: string) => {
    const text = asText(fields, key);
    return text === undefined ? undefined : pastTime(key, text, now);
  };
  return {
    ...identity,
    ...owner,
    temporary: asFlag(fields, 'temporary'),
    status: Number(asChoice(fields, 'status', ['1', '0', '-1', '-2'] as const, '1')),
    mfaType: asChoice(fields, 'mfa_type', ['email', 'totp'] as const, 'email'),
    provider: asChoice(fields, 'provider', ['password', 'ldap'] as const, 'password'),
    isAdmin: asFlag(fields, 'is_admin'),
    tenantId: asText(fields, 'tenant_id') ?? rootTenant,
    orgUnitId: asText(fields, 'org_unit_id') ?? null,
    createdAt: timeOf('created_at'),
    lastLoginSuccessTime: timeOf('last_login_success_time'),
    passwordSetAt: timeOf('password_set_at') ?? (asText(fields, 'password') === undefined ? undefined : now),
    // Last, because it takes longest.
    passwordHash: await hashOf(fields, owner, hash),
  };
}

async function hashOf(
  fields: Fields,
  owner: PasswordOwner,
  make: (password: string, owner: PasswordOwner) => Promise<string>,
): Promise<string | null> {
  const hash = asText(fields, 'password_hash');
  const password = asText(fields, 'password');
  if (hash !== undefined && password !== undefined) {
    throw new AccountProblem('password and password_hash are both given: give only one');
  }
  if (hash !== undefined) assertImportable('password_hash', hash);
  return password === undefined ? (hash ?? null) : make(password, owner);
}
