import { byField, listedFields } from '../user-fields';
import type { Provider, User } from '../user.entity';

export interface UserFilter {
  /** A prefix of the login name, the e-mail address or the nickname. */
  readonly query?: string;
  readonly status?: number;
  readonly tenantId?: string;
  /** The tenant whose users the caller can reach, if not all. */
  readonly within?: string;
  readonly provider?: Provider;
  readonly locked?: boolean;
}

export type ListedField = (typeof listedFields)[number];

export interface ListedUser extends Readonly<Omit<Pick<User, ListedField>, 'lastLoginSuccessTime'>> {
  readonly lastLoginAt: User['lastLoginSuccessTime'];
  /** Locked now after failed logins. */
  readonly locked: boolean;
}

export function listedUser(user: Pick<User, ListedField>, locked: boolean): ListedUser {
  const { lastLoginSuccessTime: lastLoginAt, ...listed } = byField(listedFields, (field) => user[field]) as typeof user;
  return { ...listed, lastLoginAt, locked };
}
