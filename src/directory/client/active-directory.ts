import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { accountDisabled, accountLocked, accountNotEnabled } from '../../shared/errors/error-catalogue';

/**
 * The sub-codes of Active Directory, which stand in the message of a refused bind ("… data 533, v4563"). None of these
 * proves the password wrong, so none is counted as a failure. All but 775 are sent after the right password only.
 * 52e (wrong password) and 525 (no such user) are not in the table: they are a wrong credential.
 */
const states: ReadonlyMap<string, CatalogueEntry> = new Map([
  ['530', accountNotEnabled], // outside of the logon hours
  ['531', accountNotEnabled], // not from this workstation
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
