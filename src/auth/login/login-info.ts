import { maskedAddress } from '../../shared/mail-address';
import { type Declaring, loginFields, userFields } from '../../users/user-fields';
import type { Wired } from '../../users/user-wire';
import type { User } from '../../users/user.entity';

type Shown = (typeof loginFields)[number];
type Always = Extract<Shown, Declaring<{ readonly login: 'always' }>>;

/** `user_info` of a login. A DTO that misses one of its fields does not compile. */
export type LoginInfo = Wired<Always> & {
  [Name in keyof Wired<Exclude<Shown, Always>>]: Wired<Exclude<Shown, Always>>[Name] | null;
};

/** Until a session is open, it contains only the uid, the login name and the masked address of the user. */
export function loginInfo(user: User, open: boolean): LoginInfo {
  const seen = loginFields.map((field) => {
    const { login, wire } = userFields[field];
    if (open || login === 'always') return [wire, user[field]];
    return [wire, login === 'masked' ? maskedAddress(user[field] as User['email']) : null];
  });
  return Object.fromEntries(seen) as LoginInfo;
}
