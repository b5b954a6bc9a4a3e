import { accountNotEnabled } from '../../shared/errors/error-catalogue';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import type { DirectoryEntry, Verdict } from '../verdict';
import { stateOfSubCode } from './active-directory';
import type { StrategyReport } from './strategy-login';

/** Result codes of RFC 4511 Appendix A. */
const ldap = { inappropriateAuthentication: 48, unwillingToPerform: 53 } as const;

/**
 * Only a refused bind as the user, or a search that finds no entry, is the user's failure. Every other error is an
 * outage and must not be counted (docs/spec/attacks.md#w20).
 * @throws DirectoryFailure
 */
export function verdictOf({ outcome, serviceBound, userRefused }: StrategyReport): Verdict {
  switch (outcome.kind) {
    case 'success':
      return { kind: 'right', entry: withDn(outcome.entry) };
    case 'fail':
      if (!serviceBound) throw new DirectoryFailure('service account refused', codeOf(outcome.token));
      if (outcome.token === 'no such object') return baseNotFound(userRefused);
      return stateOrWrong(outcome.token, userRefused);
    case 'error':
      return errorVerdict(outcome.error, serviceBound, userRefused);
  }
}

function stateOrWrong(token: string, userRefused: boolean): Verdict {
  const answer = stateOfSubCode(token);
  if (answer !== undefined) return { kind: 'refused', answer };
  return { kind: userRefused ? 'wrong' : 'unknown' };
}

/**
 * As the result of the bind, "no such object" means that the entry was deleted after the search. As the result of the
 * search, it means that the search base is wrong.
 */
function baseNotFound(userRefused: boolean): Verdict {
  if (userRefused) return { kind: 'unknown' };
  throw new DirectoryFailure('search base not found');
}

function errorVerdict(error: unknown, serviceBound: boolean, userRefused: boolean): Verdict {
  // ldapauth-fork reports two errors as strings: too many matches, and no such user, which never reaches this function.
  if (typeof error === 'string') throw new DirectoryFailure('more than one entry');
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (name === 'TimeoutError' || message === 'connection timeout') throw new DirectoryFailure('no answer in time');
  if (name === 'VError') throw parseFailure(error as { readonly cause?: () => unknown });
  if (name === 'ConnectionError' || typeof code !== 'number') throw connectionFailure(error);
  if (userRefused && code === ldap.inappropriateAuthentication) return { kind: 'wrong' };
  if (userRefused && code === ldap.unwillingToPerform) return { kind: 'refused', answer: accountNotEnabled };
  throw new DirectoryFailure(serviceBound ? 'search or bind refused' : 'service account refused', code);
}

/** ldapjs wraps the errors of its parser in a VError, and no other errors. */
function parseFailure(error: { readonly cause?: () => unknown }): DirectoryFailure {
  const cause = error.cause?.();
  return cause instanceof DirectoryFailure ? cause : new DirectoryFailure('malformed answer');
}

/** A bind with an empty DN is anonymous with any password (RFC 4513 §5.1), so its success proves nothing. */
function withDn(entry: DirectoryEntry): DirectoryEntry {
  if (typeof entry.dn === 'string' && entry.dn.trim() !== '') return entry;
  throw new DirectoryFailure('entry without a DN');
}

function codeOf(token: string): string | undefined {
  return /^\d{3}$/.test(token) ? token : undefined;
}
