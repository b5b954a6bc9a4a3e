import type { CatalogueEntry } from '../shared/errors/error-catalogue';

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
