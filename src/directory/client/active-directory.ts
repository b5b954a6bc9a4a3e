import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { accountDisabled, accountLocked, accountNotEnabled } from '../../shared/errors/error-catalogue';

/**
 * The sub-codes in the message of a bind that Active Directory refuses ("… data 533, v4563"). None of these proves that
 * the password is wrong, so none is counted as a failure. All but 775 are sent only after the right password.
 * 52e (wrong password) and 525 (no such user) are not in the table: they are a wrong credential.
 */
const states: ReadonlyMap<string, CatalogueEntry> = new Map([
  ['530', accountNotEnabled], // outside of the logon hours
  ['531', accountNotEnabled], // logon from this workstation is not permitted
  ['532', accountNotEnabled], // password expired: it is changed at the directory, never by this service
  ['533', accountDisabled],
  ['534', accountNotEnabled], // this type of logon is not granted
  ['701', accountNotEnabled], // account expired
  ['773', accountNotEnabled], // the password must be changed at the directory
  ['775', accountLocked], // locked by the directory
]);

export function stateOfSubCode(code: string): CatalogueEntry | undefined {
  return states.get(code);
}
