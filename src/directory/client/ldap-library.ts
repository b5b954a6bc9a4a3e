import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type LdapStrategy from 'passport-ldapauth';
import { loadOnce } from '../../shared/load-once';
import { DirectoryAnswers } from '../protocol/directory-answers';
import { DirectoryFailure } from '../protocol/directory-failure';

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

interface LdapjsErrors {
  getError(result: { readonly status: number }): Error;
  /** Returns '' for a code that has no name. */
  getMessage(code: number): string;
  readonly OtherError: new () => Error;
}

interface LdapjsParser extends EventEmitter {
  write(data: Buffer): boolean;
}

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
    return { Strategy, ldapjs: guardedLdapjs() };
  } catch (error) {
    const { code } = (error ?? {}) as { code?: unknown };
    throw new DirectoryFailure('LDAP client not loaded', typeof code === 'string' ? code : undefined, { cause: error });
  }
});

/** @throws DirectoryFailure */
export async function loadLdapjs(): Promise<Ldapjs> {
  return (await loadLdapLibrary()).ldapjs;
}

/**
 * Replaces two functions of ldapjs, in the copy that passport-ldapauth uses. ldapjs is archived, and with the original
 * functions one answer of a directory can end or block the process (ADR 0010).
 * @throws Error when a new version of ldapjs has these functions in other files
 */
function guardedLdapjs(): Ldapjs {
  // ldapjs is a dependency of ldapauth-fork, which is a dependency of passport-ldapauth.
  const strategy = createRequire(createRequire(__filename).resolve('passport-ldapauth'));
  const ldapauth = createRequire(strategy.resolve('ldapauth-fork'));
  // Everything is loaded before anything is replaced, so that nothing is replaced twice after a load that failed.
  const errors = ldapauth('ldapjs/lib/errors') as LdapjsErrors;
  const parser = ldapauth('ldapjs/lib/messages/parser') as { readonly prototype: LdapjsParser };
  const ldapjs = ldapauth('ldapjs') as Ldapjs;
  nameUnnamedResults(errors);
  checkAnswers(parser.prototype);
  return ldapjs;
}

/**
 * Makes `getError` return an error with the number of the result code when the code has no name. The original function
 * throws an error that nothing catches.
 */
function nameUnnamedResults(errors: LdapjsErrors): void {
  const named = errors.getError;
  errors.getError = (result) => {
    if (errors.getMessage(result.status) !== '') return named(result);
    return Object.defineProperty(new errors.OtherError(), 'code', { value: result.status });
  };
}

/**
 * Passes only checked messages to the parser that ldapjs has for each connection. The first message that fails the
 * check is emitted as a parse error: the client of ldapjs then rejects the waiting requests and closes the connection.
 */
function checkAnswers(parser: LdapjsParser): void {
  const { write } = parser;
  const connections = new WeakMap<LdapjsParser, DirectoryAnswers | 'refused'>();
  parser.write = function (data) {
    const answers = connections.get(this) ?? new DirectoryAnswers();
    if (answers === 'refused') return false;
    connections.set(this, answers);
    try {
      for (const message of answers.messagesOf(data)) write.call(this, message);
      return true;
    } catch (error) {
      // This also catches an error that a callback of ldapjs throws. Otherwise that error would end the process.
      connections.set(this, 'refused');
      this.emit('error', error);
      return false;
    }
  };
}
