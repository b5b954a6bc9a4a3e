import type { CatalogueEntry } from '../../shared/errors/error-catalogue';
import { accountDisabled, accountLocked, accountNotEnabled } from '../../shared/errors/error-catalogue';

/**
 * Active Directory tells in the message of a refused bind why ("… data 533, v4563"). All of these but 775 are told only
 * after the right password, and none of them proves it wrong: they are answered by the account's state and not counted.
 * 52e (wrong password) and 525 (no such user) stay a wrong credential.
 */
const states: ReadonlyMap<string, CatalogueEntry> = new Map([
  ['530', accountNotEnabled], // not at this time
  ['531', accountNotEnabled], // not from this workstation
  ['532', accountNotEnabled], // password expired: changed at the directory, never here (decisions.md 2)
  ['533', accountDisabled],
  ['534', accountNotEnabled], // this kind of logon is not granted
  ['701', accountNotEnabled], // account expired
  ['773', accountNotEnabled], // password must be changed at the directory
  ['775', accountLocked], // locked by the directory
]);

export function stateOfSubCode(code: string): CatalogueEntry | undefined {
  return states.get(code);
}
