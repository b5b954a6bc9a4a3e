import { caseFold } from '../../shared/case-fold';

/** The names of the owner that a password must not contain. */
export interface PasswordOwner {
  readonly loginName: string;
  readonly nickname: string | null;
  readonly email: string | null;
}

/** Shorter names would forbid too much: the password of `Ann` may contain `channel`. */
const shortest = 4;

/** The rule `forbid_own_data`: login name, nickname or local part of the e-mail address, whatever the case. */
export function containsOwnData(password: string, { loginName, nickname, email }: PasswordOwner): boolean {
  const folded = caseFold(password);
  return [loginName, nickname, localPartOf(email)]
    .map((name) => caseFold(name ?? '').trim())
    .some((name) => [...name].length >= shortest && folded.includes(name));
}

function localPartOf(email: string | null): string | null {
  return email === null ? null : email.slice(0, Math.max(0, email.lastIndexOf('@')));
}
