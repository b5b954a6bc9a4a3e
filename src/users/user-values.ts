import { saltOf } from '../hashing/bcrypt-format';
import { identityKey } from '../shared/identity-key';
import type { ReadField, UserValues } from './user-columns';
import { byField, changedFields, type Declaring, givenFields } from './user-fields';
import type { User } from './user.entity';

type GivenField = (typeof givenFields)[number];
type OptionalField = Extract<GivenField, Declaring<{ readonly optional: true }>>;

/** The fields of a new account. Without a `uid` it gets a new UUID, and without `createdAt` the present time. */
export interface NewUser
  extends Readonly<Pick<User, Exclude<GivenField, OptionalField>>>, Readonly<Partial<Pick<User, OptionalField>>> {
  /** A bcrypt hash, or that of another system. Null for a directory user, and for a user who will be invited. */
  readonly passwordHash: string | null;
  readonly temporary: boolean;
  /** When the password was set in the other system. Default: now. */
  readonly passwordSetAt?: Date;
}

/** The fields of a change. A field that is undefined keeps its value. */
export type UserChange = Readonly<Partial<Pick<User, (typeof changedFields)[number]>>>;

export const keyOf = (email: string | null) => (email === null ? null : identityKey(email));

/** The row of a new account. A column that nothing sets does not compile. `nicknameKey` comes with the INSERT. */
export function newRow(user: NewUser & Pick<User, 'uid'>, now: Date): Pick<User, ReadField> {
  return {
    ...(byField(givenFields, (field) => user[field] ?? null) as Pick<User, GivenField>),
    ...{ loginName: user.loginName.trim(), loginNameKey: identityKey(user.loginName), emailKey: keyOf(user.email) },
    provenEmailKey: null,
    ...{ password: user.passwordHash, salt: user.passwordHash === null ? null : saltOf(user.passwordHash) },
    legacyLogin: user.legacyLogin ?? false,
    ...{ mustChangePassword: user.temporary, createdAt: user.createdAt ?? now },
    ...{ loginFailedCount: 0, lastLoginFailedTime: null, mfaFailedCount: 0, mfaBlockedUntil: null, totpSecret: null },
    ...{ credentialVersion: 0, enabledAt: null, directorySeenAt: null, directoryLookUntil: null, deletedAt: null },
  };
}

/** The columns of a change, with the keys that follow the values. */
export function changedValues(change: UserChange): UserValues {
  return {
    ...(byField(changedFields, (field) => change[field]) as UserChange),
    emailKey: change.email === undefined ? undefined : keyOf(change.email),
    nicknameKey: change.nickname,
  };
}
