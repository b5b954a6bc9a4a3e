import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { accountDisabled, accountLocked, accountNotEnabled } from '../../shared/errors/error-catalogue';
import { DirectoryFailure } from '../protocol/directory-failure';
import type { Verdict } from '../person';
import { entryValues, idOf } from './entry-values';
import { ldapjsFailure } from './ldapjs-failure';
import type { StrategyEntry, StrategyReport } from './strategy-login';

/** Result codes of RFC 4511 Appendix A. */
const ldap = { inappropriateAuthentication: 48, unwillingToPerform: 53 } as const;

/**
 * The sub-codes in the message of a bind that Active Directory refuses ("… data 533, v4563"). None of these proves that
 * the password is wrong, so none is counted as a failure. All but 775 are sent only after the right password.
 * 52e (wrong password) and 525 (no such user) are not in the table: they are a wrong credential.
 */
const stateOfSubCode: ReadonlyMap<string, CatalogueEntry> = new Map([
  ['530', accountNotEnabled], // outside of the logon hours
  ['531', accountNotEnabled], // logon from this workstation is not permitted
  ['532', accountNotEnabled], // password expired: it is changed at the directory, never by this service
  ['533', accountDisabled],
  ['534', accountNotEnabled], // this type of logon is not granted
  ['701', accountNotEnabled], // account expired
  ['773', accountNotEnabled], // the password must be changed at the directory
  ['775', accountLocked], // locked by the directory
]);

/**
 * Only a refused bind as the user, or an entry that is gone, is the user's failure. Every other error is an outage and
 * must not be counted (docs/spec/attacks.md#w20).
 * @param id the id of the entry that was found before. An entry that has replaced it since then is another person
 * @throws DirectoryFailure
 */
export function verdictOf({ outcome, serviceBound, userRefused, subCode }: StrategyReport, id: string | null): Verdict {
  switch (outcome.kind) {
    case 'success':
      return { kind: idIn(outcome.entry) === id ? 'right' : 'unknown' };
    case 'fail':
      if (!serviceBound) throw new DirectoryFailure('service account refused', codeOf(outcome.token));
      // The entry was deleted since it was found, before or after it was read again.
      if (outcome.token === 'no such object') return { kind: 'unknown' };
      return stateOrWrong(subCode ?? outcome.token, userRefused);
    case 'error':
      return errorVerdict(outcome.error, serviceBound, userRefused);
  }
}

function stateOrWrong(code: string, userRefused: boolean): Verdict {
  const answer = stateOfSubCode.get(code);
  if (answer !== undefined) return { kind: 'refused', answer };
  return { kind: userRefused ? 'wrong' : 'unknown' };
}

function errorVerdict(error: unknown, serviceBound: boolean, userRefused: boolean): Verdict {
  // ldapauth-fork reports two errors as strings: too many matches, and no such user, which never reaches this function.
  if (typeof error === 'string') throw new DirectoryFailure('more than one entry');
  const { code } = error as { code?: unknown };
  if (userRefused && code === ldap.inappropriateAuthentication) return { kind: 'wrong' };
  if (userRefused && code === ldap.unwillingToPerform) return { kind: 'refused', answer: accountNotEnabled };
  throw ldapjsFailure(error, serviceBound ? 'search' : 'service bind');
}

/** A bind with an empty DN is anonymous with any password (RFC 4513 §5.1), so its success proves nothing. */
function idIn({ dn, _raw }: StrategyEntry): string | null {
  if (typeof dn !== 'string' || dn.trim() === '') throw new DirectoryFailure('entry without a DN');
  return idOf(entryValues(_raw));
}

function codeOf(token: string): string | undefined {
  return /^\d{3}$/.test(token) ? token : undefined;
}
