import type { CatalogueEntry } from '../shared/errors/error-catalogue';

/** What an entry of the directory says about its person. */
export interface DirectoryPerson {
  readonly dn: string;
  /**
   * `objectGUID` or `entryUUID`: it stays the same when the entry is renamed or moved, and an entry that is made again
   * gets another one. Null when the directory shows neither.
   */
  readonly id: string | null;
  /** The values of `LDAP_ATTR_LOGIN`. */
  readonly loginNames: readonly string[];
  /** The values of `LDAP_MATCH_ATTRIBUTES`. */
  readonly matchNames: readonly string[];
  /** The first value of `LDAP_ATTR_EMAIL`. It may be malformed. */
  readonly email: string | null;
  /** The first value of `LDAP_ATTR_NAME`. */
  readonly name: string | null;
  /** The directory says that the account is disabled. Only a password check can tell every reason. */
  readonly disabled: boolean;
  /** When the account expires. Null when it never does, or when the directory does not say. */
  readonly expires: Date | null;
  readonly groups: GroupMemberships;
}

export interface GroupMemberships {
  /** Member of `LDAP_GROUP_REQUIRED`. True when no group is required. */
  readonly required: boolean;
  /** Member of `LDAP_GROUP_ADMIN`. Null when the setting is empty: the directory then says nothing about it. */
  readonly admin: boolean | null;
  /** The names that `LDAP_GROUPS` gives to the groups of the person. Undefined when the setting is empty. */
  readonly names?: readonly string[];
}

export type Finding =
  | { readonly kind: 'person'; readonly person: DirectoryPerson }
  | { readonly kind: 'nobody' }
  /** The filter matches more than one entry. */
  | { readonly kind: 'several' };

/**
 * The judgement of a credential by the directory.
 * `right`: the entry accepted the password. `wrong`: it did not. `unknown`: the entry is gone since it was found.
 * `refused`: the state of the account at the directory forbids the login. The directory reveals most states only after
 * the right password, so this verdict can prove that a guess is right.
 */
export type Verdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly answer: CatalogueEntry };
