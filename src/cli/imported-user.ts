import type { PasswordOwner } from '../password-reset/password-checks';
import { rootTenant } from '../platform/settings/system-settings';
import { AccountProblem, type NewUser } from '../users/user-accounts';
import { byField, importedFields, textFields } from '../users/user-fields';
import { fileNameOf } from '../users/user-wire';
import { asChoice, asFlag, assertImportable, asText, asUserId, pastTime } from './import-fields';
import type { Fields } from './import-rows';

/** Who a row is about. */
export type Identity = Pick<NewUser, 'loginName' | 'uid'>;

const keys = new Set<string>([
  ...importedFields.map(fileNameOf),
  ...['password', 'password_hash', 'password_set_at', 'temporary'],
]);

type ImportedField = Exclude<(typeof importedFields)[number], keyof Identity>;
type Readers<P extends ImportedField> = { readonly [Q in P]: (fields: Fields, key: string, now: Date) => NewUser[Q] };

const text = (fields: Fields, key: string) => asText(fields, key) ?? null;
const time = (fields: Fields, key: string, now: Date) => {
  const value = asText(fields, key);
  return value === undefined ? undefined : pastTime(key, value, now);
};

/** How a row gives each field. */
const readers: Readers<ImportedField> = {
  ...byField(textFields, () => text),
  email: text,
  status: (fields, key) => Number(asChoice(fields, key, ['1', '0', '-1', '-2'] as const, '1')),
  mfaType: (fields, key) => asChoice(fields, key, ['email', 'totp'] as const, 'email'),
  provider: (fields, key) => asChoice(fields, key, ['password', 'ldap'] as const, 'password'),
  isAdmin: asFlag,
  tenantId: (fields, key) => asText(fields, key) ?? rootTenant,
  orgUnitId: text,
  language: text,
  createdAt: time,
  lastLoginSuccessTime: time,
};

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
  const read = Object.keys(readers) as ImportedField[];
  const values = byField(read, (field) => readers[field](fields, fileNameOf(field), now)) as Pick<
    NewUser,
    ImportedField
  >;
  return {
    ...identity,
    ...values,
    temporary: asFlag(fields, 'temporary'),
    passwordSetAt: time(fields, 'password_set_at', now) ?? (asText(fields, 'password') === undefined ? undefined : now),
    // Last, because it takes longest.
    passwordHash: await hashOf(fields, { loginName, email: values.email, nickname: values.nickname }, hash),
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
