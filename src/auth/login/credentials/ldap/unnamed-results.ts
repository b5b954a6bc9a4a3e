import { createRequire } from 'node:module';

interface LdapjsErrors {
  getError(result: { readonly status: number }): Error;
  /** '' for a code that it has no name for. */
  getMessage(code: number): string;
  readonly OtherError: new () => Error;
}

/**
 * ldapjs looks up the name of a result code that it was not waiting for, and throws where nobody catches when there is
 * none: one such answer would end the process. Here it becomes an error like those of the other codes, with its number.
 * @throws Error where another ldapjs keeps this function elsewhere.
 */
export function nameUnnamedResults(): void {
  // The very module that the strategy uses, two dependencies away.
  const strategy = createRequire(createRequire(__filename).resolve('passport-ldapauth'));
  const errors = createRequire(strategy.resolve('ldapauth-fork'))('ldapjs/lib/errors') as LdapjsErrors;
  const named = errors.getError;
  errors.getError = (result) => {
    if (errors.getMessage(result.status) !== '') return named(result);
    return Object.defineProperty(new errors.OtherError(), 'code', { value: result.status });
  };
}
