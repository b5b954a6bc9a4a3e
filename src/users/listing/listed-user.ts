import { byField, listedFields } from '../user-fields';
import type { Provider, User } from '../user.entity';

export interface UserFilter {
  /** Words: each begins the login name, the address or a word of the nickname (ADR 0041). */
  readonly query?: string;
  readonly status?: number;
  readonly tenantId?: string;
  /** The tenant whose users the caller can reach, if not all. */
  readonly within?: string;
  readonly provider?: Provider;
  readonly locked?: boolean;
  /** Default: by login name; a search as `UserListing` says. */
  readonly sort?: UserSort;
}

/** The number of the part of a list that a row is in, its key there, and its uid. */
export type UserPlace = readonly [part: number, key: string, uid: string];

export const userSorts = [
  'login_name',
  '-login_name',
  'created_at',
  '-created_at',
  'last_login_at',
  '-last_login_at',
] as const;

/** The order of a list; `-` is descending. Users who have never signed in are before the first sign-in. */
export type UserSort = (typeof userSorts)[number];

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
