import { createRequire } from 'node:module';
import type { EventEmitter } from 'node:events';
import { DirectoryAnswers } from './directory-answers';

interface LdapjsErrors {
  getError(result: { readonly status: number }): Error;
  /** '' for a code that it has no name for. */
  getMessage(code: number): string;
  readonly OtherError: new () => Error;
}

interface LdapjsParser extends EventEmitter {
  write(data: Buffer): boolean;
}

/**
 * ldapjs is archived, and each of these faults lets one answer of a directory end or hold the process (ADR 0010). So its
 * functions are replaced here, once, in the modules that the strategy uses.
 * @throws Error where another ldapjs keeps these functions elsewhere.
 */
export function guardLdapjs(): void {
  // Two dependencies away from here.
  const strategy = createRequire(createRequire(__filename).resolve('passport-ldapauth'));
  const ldapauth = createRequire(strategy.resolve('ldapauth-fork'));
  nameUnnamedResults(ldapauth('ldapjs/lib/errors') as LdapjsErrors);
  checkAnswers((ldapauth('ldapjs/lib/messages/parser') as { readonly prototype: LdapjsParser }).prototype);
}

/** ldapjs throws where nobody catches when it has no name for a result code. Such a code becomes an error with its number. */
function nameUnnamedResults(errors: LdapjsErrors): void {
  const named = errors.getError;
  errors.getError = (result) => {
    if (errors.getMessage(result.status) !== '') return named(result);
    return Object.defineProperty(new errors.OtherError(), 'code', { value: result.status });
  };
}

/**
 * ldapjs reads each connection through a parser of its own. The parser gets checked messages only, and reports the first
 * that fails the check as its own parse errors: the client then fails what waits and ends the connection.
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
      // Also what a callback of the library throws: outside it would be an uncaught exception.
      connections.set(this, 'refused');
      this.emit('error', error);
      return false;
    }
  };
}
