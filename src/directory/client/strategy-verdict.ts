import { accountNotEnabled } from '../../shared/errors/error-catalogue';
import { connectionFailure, DirectoryFailure } from '../protocol/directory-failure';
import type { DirectoryEntry, Verdict } from '../verdict';
import { stateOfSubCode } from './active-directory';
import type { StrategyReport } from './strategy-login';

/** RFC 4511 Appendix A. */
const ldap = { inappropriateAuthentication: 48, unwillingToPerform: 53 } as const;

/**
 * Pure: only a refused bind as the user, or no entry by that name, is a "no". Whatever else went wrong, before or around
 * it, is a failure of the directory, which must not count against the user (W20). @throws DirectoryFailure
 */
export function verdictOf({ said, serviceBound, userRefused }: StrategyReport): Verdict {
  switch (said.kind) {
    case 'success':
      return { kind: 'right', entry: withDn(said.entry) };
    case 'fail':
      if (!serviceBound) throw new DirectoryFailure('service account refused', codeOf(said.token));
      if (said.token === 'no such object') return baseNotFound(userRefused);
      return stateOrWrong(said.token, userRefused);
    case 'error':
      return errorVerdict(said.error, serviceBound, userRefused);
  }
}

function stateOrWrong(token: string, userRefused: boolean): Verdict {
  const answer = stateOfSubCode(token);
  if (answer !== undefined) return { kind: 'refused', answer };
  return { kind: userRefused ? 'wrong' : 'unknown' };
}

/** "No such object" of the bind means that the entry went away since the search; of the search, that its base is wrong. */
function baseNotFound(userRefused: boolean): Verdict {
  if (userRefused) return { kind: 'unknown' };
  throw new DirectoryFailure('search base not found');
}

function errorVerdict(error: unknown, serviceBound: boolean, userRefused: boolean): Verdict {
  // The only string among the errors of ldapauth-fork that is not "no such user": an unexpected number of matches.
  if (typeof error === 'string') throw new DirectoryFailure('more than one entry');
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (name === 'TimeoutError' || message === 'connection timeout') throw new DirectoryFailure('no answer in time');
  if (name === 'VError') throw parseFailure(error as { readonly cause?: () => unknown });
  if (name === 'ConnectionError' || typeof code !== 'number') throw connectionFailure(error);
  if (userRefused && code === ldap.inappropriateAuthentication) return { kind: 'wrong' };
  if (userRefused && code === ldap.unwillingToPerform) return { kind: 'refused', answer: accountNotEnabled };
  throw new DirectoryFailure(serviceBound ? 'search or bind refused' : 'service account refused', code);
}

/** ldapjs wraps what its parser reports, and nothing else, in an error of this name. */
function parseFailure(error: { readonly cause?: () => unknown }): DirectoryFailure {
  const cause = error.cause?.();
  return cause instanceof DirectoryFailure ? cause : new DirectoryFailure('malformed answer');
}

/** Binding with an empty name is anonymous whatever the password (RFC 4513 §5.1): such a success proves nothing. */
function withDn(entry: DirectoryEntry): DirectoryEntry {
  if (typeof entry.dn === 'string' && entry.dn.trim() !== '') return entry;
  throw new DirectoryFailure('entry without a DN');
}

function codeOf(token: string): string | undefined {
  return /^\d{3}$/.test(token) ? token : undefined;
}
