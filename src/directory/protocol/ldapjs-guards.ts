import { createRequire } from 'node:module';
import type { EventEmitter } from 'node:events';
import { DirectoryAnswers } from './directory-answers';

interface LdapjsErrors {
  getError(result: { readonly status: number }): Error;
  /** Returns '' for a code that has no name. */
  getMessage(code: number): string;
  readonly OtherError: new () => Error;
}

interface LdapjsParser extends EventEmitter {
  write(data: Buffer): boolean;
}

let guarded: unknown;

/**
 * Replaces two functions of ldapjs, in the copy that passport-ldapauth uses. ldapjs is archived, and with the original
 * functions one answer of a directory can end or block the process (ADR 0010).
 * @returns the module ldapjs
 * @throws Error when a new version of ldapjs has these functions in other files
 */
export function guardLdapjs(): unknown {
  if (guarded !== undefined) return guarded;
  // ldapjs is a dependency of ldapauth-fork, which is a dependency of passport-ldapauth.
  const strategy = createRequire(createRequire(__filename).resolve('passport-ldapauth'));
  const ldapauth = createRequire(strategy.resolve('ldapauth-fork'));
  // Everything is loaded before anything is replaced, so that nothing is replaced twice after a load that failed.
  const errors = ldapauth('ldapjs/lib/errors') as LdapjsErrors;
  const parser = ldapauth('ldapjs/lib/messages/parser') as { readonly prototype: LdapjsParser };
  const ldapjs: unknown = ldapauth('ldapjs');
  nameUnnamedResults(errors);
  checkAnswers(parser.prototype);
  guarded = ldapjs;
  return guarded;
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
