import type { CatalogueEntry } from '../shared/errors/error-catalogue';

/** The attributes of an entry, and its `dn`. An attribute with one value is a string, one with several is a list. */
export type DirectoryEntry = Readonly<Record<string, unknown>>;

/**
 * The judgement of a credential by the directory.
 * `right`: the entry accepted the password. `wrong`: it did not. `unknown`: the search found no entry.
 * `refused`: the state of the account at the directory forbids the login. The directory reveals most states only after
 * the right password, so this verdict can prove that a guess is right.
 */
export type Verdict =
  | { readonly kind: 'right'; readonly entry: DirectoryEntry }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly answer: CatalogueEntry };
