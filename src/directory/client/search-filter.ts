import type { LdapSettings } from '../ldap-settings';
import { guidBytes, idAttributes } from './entry-values';
import type { Ldapjs, SearchFilter } from './ldap-library';

const placeholder = '{{username}}';

/** Active Directory's rule LDAP_MATCHING_RULE_IN_CHAIN: it follows groups in groups. */
const inChain = '1.2.840.113556.1.4.1941';

/**
 * Escapes a value for a search filter (RFC 4515 §3). Braces are escaped as well, so that a name never contains a
 * placeholder.
 */
export function filterValue(text: string): string {
  return text.replace(/[\\*()\0{}]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** `LDAP_SEARCH_FILTER` for one name. No placeholder is left in it. */
export function filterFor(template: string, name: string): string {
  return template.split(placeholder).join(filterValue(name));
}

/** `LDAP_SEARCH_FILTER` for everybody: the name may be anything. */
export function filterPresence(template: string): string {
  return template.split(placeholder).join('*');
}

/** The groups of an entry, for a search of this entry alone. Servers without the rule ignore it or refuse it. */
export const memberFilters = (group: string) =>
  [
    `(|(memberOf:${inChain}:=${filterValue(group)})(memberOf=${filterValue(group)}))`,
    `(memberOf=${filterValue(group)})`,
  ] as const;

/** The members of a group, for a search of this group alone: for servers that do not maintain `memberOf`. */
export const memberOfGroupFilter = (dn: string) => `(|(member=${filterValue(dn)})(uniqueMember=${filterValue(dn)}))`;

/**
 * Matches the entry with this id. An attribute that the server does not know matches nothing (RFC 4511 §4.5.1.7). The
 * filter is an object, because the parser of ldapjs writes bytes above 127 as UTF-8.
 */
export function idFilter({ OrFilter, EqualityFilter }: Ldapjs, id: string): SearchFilter {
  return new OrFilter({
    filters: [
      new EqualityFilter({ attribute: idAttributes.guid, raw: guidBytes(id) }),
      new EqualityFilter({ attribute: idAttributes.uuid, value: id }),
    ],
  });
}

/** Matches the entry with this id if `LDAP_SEARCH_FILTER` accepts it under one of the names. */
export function idAndNameFilter(
  library: Ldapjs,
  { searchFilter }: LdapSettings,
  id: string,
  names: readonly string[],
): SearchFilter {
  const { AndFilter, OrFilter, parseFilter } = library;
  const accepted = names.map((name) => parseFilter(filterFor(searchFilter, name)));
  return new AndFilter({ filters: [idFilter(library, id), new OrFilter({ filters: accepted })] });
}
