import type { ClientInfo } from '../../../../shared/client-info';
import { accountNotEnabled, type CatalogueEntry } from '../../../../shared/errors/error-catalogue';
import type { DirectoryPerson, Verdict } from '../../../../directory/person';
import type { User } from '../../../../users/user.entity';

/** One login at the directory. */
export interface Attempt {
  readonly password: string;
  /** One time limit for the wait for the semaphore and all servers. */
  readonly until: number;
  readonly client: ClientInfo;
}

/** An entry, and its account if there is one. */
export interface Entry {
  readonly user: User | null;
  readonly person: DirectoryPerson;
}
export type Known = Entry & { readonly user: User };

/** LOGIN_401012 for a person outside of `LDAP_GROUP_REQUIRED`. Undefined when nothing forbids the login. */
export function refusalOf(verdict: Verdict, { groups }: DirectoryPerson): CatalogueEntry | undefined {
  if (verdict.kind === 'refused') return verdict.answer;
  return groups.required ? undefined : accountNotEnabled;
}

/**
 * A bind with an empty password succeeds for everybody (RFC 4513 §5.1.2), and some servers treat a password that
 * begins with NUL as empty (docs/spec/attacks.md#w18).
 */
export function isBlank(password: string): boolean {
  return password.trim() === '' || password.includes('\0');
}
