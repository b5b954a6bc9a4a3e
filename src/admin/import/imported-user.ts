import type { PasswordOwner } from '../../password-reset/password-checks';
import { AccountProblem, type NewUser } from '../../users/user-accounts';
import { roles } from '../../users/user.entity';
import { byField, importedFields, textFields } from '../../users/user-fields';
import { fileNameOf } from '../../users/user-wire';
import type { ImportedUser } from '../user-administration';
import { asChoice, asFlag, asHash, asText, asTotp, asUserId, pastTime } from '../import-fields';
import type { Fields } from '../import-rows';

/** Who a row is about. */
export type Identity = Pick<NewUser, 'loginName' | 'uid'>;

export const fileColumns: ReadonlySet<string> = new Set<string>([
  ...importedFields.map(fileNameOf),
  ...['password', 'password_hash', 'password_set_at', 'temporary', 'totp_secret'],
]);

type ImportedField = Exclude<(typeof importedFields)[number], keyof Identity>;
type Readers<P extends ImportedField> = {
  readonly [Q in P]: (fields: Fields, key: string, context: ImportContext) => NewUser[Q];
};

export interface ImportContext {
  readonly now: Date;
  /** The tenant of a row that names none. */
  readonly tenant: string;
  /** Makes the hash of a plain password. */
  readonly hash: (password: string, owner: PasswordOwner) => Promise<string>;
}

const text = (fields: Fields, key: string) => asText(fields, key) ?? null;
const time = (fields: Fields, key: string, { now }: ImportContext) => {
  const value = asText(fields, key);
  return value === undefined ? undefined : pastTime(key, value, now);
};

/** How a row gives each field. */
const readers: Readers<ImportedField> = {
  ...byField(textFields, () => text),
  email: text,
  status: (fields, key) => Number(asChoice(fields, key, ['1', '0', '-1', '-2'] as const, '1')),
  mfaType: (fields, key) => asChoice(fields, key, ['email', 'totp'] as const, 'email'),
  provider: (fields, key) => asChoice(fields, key, ['password', 'ldap', 'oidc'] as const, 'password'),
  identityProviderId: text,
  isAdmin: asFlag,
  role: (fields, key) => asChoice(fields, key, ['', ...roles] as const, '') || null,
  tenantId: (fields, key, { tenant }) => asText(fields, key) ?? tenant,
  orgUnitId: text,
  language: text,
  createdAt: time,
  lastLoginSuccessTime: time,
  legacyLogin: asFlag,
};

/** @throws AccountProblem */
export function identityOf(fields: Fields): Identity {
  const unknown = Object.keys(fields).find((key) => !fileColumns.has(key));
  if (unknown !== undefined) throw new AccountProblem(`unknown key ${JSON.stringify(unknown)}`);
  return { loginName: asText(fields, 'login_name') ?? '', uid: asUserId(asText(fields, 'uid')) };
}

/** @throws AccountProblem */
export async function userOf(fields: Fields, identity: Identity, context: ImportContext): Promise<ImportedUser> {
  const { loginName } = identity;
  if (loginName.trim() === '') throw new AccountProblem('login_name is missing');
  const read = Object.keys(readers) as ImportedField[];
  const values = byField(read, (field) => readers[field](fields, fileNameOf(field), context)) as Pick<
    NewUser,
    ImportedField
  >;
  return {
    ...identity,
    ...values,
    totp: asTotp(fields, 'totp_secret'),
    temporary: asFlag(fields, 'temporary'),
    passwordSetAt:
      time(fields, 'password_set_at', context) ?? (asText(fields, 'password') === undefined ? undefined : context.now),
    // Last, because it takes longest.
    passwordHash: await hashOf(fields, { loginName, email: values.email, nickname: values.nickname }, context.hash),
  };
}

async function hashOf(fields: Fields, owner: PasswordOwner, make: ImportContext['hash']): Promise<string | null> {
  const hash = asText(fields, 'password_hash');
  const password = asText(fields, 'password');
  if (hash !== undefined && password !== undefined) {
    throw new AccountProblem('password and password_hash are both given: give only one');
  }
  if (hash !== undefined) return asHash('password_hash', hash).hash;
  return password === undefined ? null : make(password, owner);
}
