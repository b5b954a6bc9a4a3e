import type { EventEmitter } from 'node:events';
import type LdapStrategy from 'passport-ldapauth';
import { loadOnce } from '../../shared/load-once';
import { DirectoryFailure } from '../protocol/directory-failure';
import { guardLdapjs } from '../protocol/ldapjs-guards';

/** The filters and the client of ldapjs, as far as they are used here. */
export interface Ldapjs {
  createClient(options: object): LdapjsClient;
  parseFilter(filter: string): SearchFilter;
  AndFilter: new (parts: { filters: SearchFilter[] }) => SearchFilter;
  OrFilter: new (parts: { filters: SearchFilter[] }) => SearchFilter;
  EqualityFilter: new (test: { attribute: string; value?: string; raw?: Buffer }) => SearchFilter;
}

export interface LdapjsClient extends EventEmitter {
  bind(dn: string, password: string, done: (error: Error | null) => void): void;
  search(base: string, options: object, done: (error: Error | null, result: EventEmitter) => void): void;
  destroy(): void;
}

export type SearchFilter = object;

interface LdapLibrary {
  readonly Strategy: typeof LdapStrategy;
  readonly ldapjs: Ldapjs;
}

/**
 * Loads passport-ldapauth and the ldapjs below it. A server with a directory loads them when it starts, not at the first
 * login. The process may have no free file descriptor then, and Node 20 does not find a package again after its
 * `package.json` could not be opened.
 * @throws DirectoryFailure
 */
export const loadLdapLibrary = loadOnce<LdapLibrary>(async () => {
  try {
    const { default: Strategy } = await import('passport-ldapauth');
    return { Strategy, ldapjs: guardLdapjs() as Ldapjs };
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    throw new DirectoryFailure('LDAP client not loaded', typeof code === 'string' ? code : undefined, { cause: error });
  }
});

/** @throws DirectoryFailure */
export async function loadLdapjs(): Promise<Ldapjs> {
  return (await loadLdapLibrary()).ldapjs;
}
