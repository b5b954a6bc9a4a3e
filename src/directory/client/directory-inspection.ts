import type { LdapSettings } from '../ldap-settings';
import { DirectoryFailure } from '../protocol/directory-failure';
import { idAttributes } from './entry-values';
import { filterPresence } from './search-filter';
import { loadLdapjs } from './ldap-library';
import { noAttribute, type Search, type ServiceConnection } from './service-connection';

/** One finding for the operator: a sentence that names the setting, without a DN or a secret. */
export interface Remark {
  /** `problem`: nobody can log in. `warn`: logins work, but not everything that is set. */
  readonly health: 'warn' | 'problem';
  readonly text: string;
}

const anyMember = '(|(member=*)(uniqueMember=*))';

/** Tells whether the service account finds people, and sees the attributes that a login reads. */
export async function inspectPeople(connection: ServiceConnection, config: LdapSettings): Promise<Remark[]> {
  const { parseFilter, AndFilter } = await loadLdapjs();
  const people = parseFilter(filterPresence(config.searchFilter));
  const shows = (filter: string): Promise<boolean> =>
    answers(connection, {
      base: config.searchBase,
      scope: 'sub',
      filter: new AndFilter({ filters: [people, parseFilter(filter)] }),
      attributes: [noAttribute],
    });
  if (!(await shows('(objectClass=*)'))) {
    return [
      problem('LDAP_SEARCH_FILTER finds nobody below LDAP_SEARCH_BASE: check both, and what the account may read'),
    ];
  }
  const { login, email, name } = config.attributes;
  const needed = [
    { filter: `(${login}=*)`, remark: problem(invisible('LDAP_ATTR_LOGIN', login)) },
    { filter: `(${email}=*)`, remark: warning(invisible('LDAP_ATTR_EMAIL', email)) },
    { filter: `(${name}=*)`, remark: warning(invisible('LDAP_ATTR_NAME', name)) },
    ...config.matchAttributes
      .filter((attribute) => attribute !== login)
      .map((attribute) => ({
        filter: `(${attribute}=*)`,
        remark: warning(invisible('LDAP_MATCH_ATTRIBUTES', attribute)),
      })),
    {
      filter: `(|(${idAttributes.guid}=*)(${idAttributes.uuid}=*))`,
      remark: warning('the account sees neither objectGUID nor entryUUID: allow it, or a renamed user is a stranger'),
    },
  ];
  const remarks: Remark[] = [];
  for (const { filter, remark } of needed) if (!(await shows(filter))) remarks.push(remark);
  return remarks;
}

/** Tells whether the service account sees the groups that a login asks for. */
export async function inspectGroups(connection: ServiceConnection, { groups }: LdapSettings): Promise<Remark[]> {
  const { parseFilter } = await loadLdapjs();
  const remarks: Remark[] = [];
  for (const [setting, base] of [
    ['LDAP_GROUP_REQUIRED', groups.required],
    ['LDAP_GROUP_ADMIN', groups.admin],
    ...[...(groups.named?.keys() ?? [])].map((dn, i) => [`entry ${i + 1} of LDAP_GROUPS`, dn] as const),
  ] as readonly (readonly [string, string | undefined])[]) {
    if (base === undefined) continue;
    const matches = (filter: string) =>
      answers(connection, { base, scope: 'base', filter: parseFilter(filter), attributes: [noAttribute] });
    if (!(await matches('(objectClass=*)'))) {
      remarks.push(problem(`${setting} names no entry that the account may see: check the DN`));
    } else if (!(await matches(anyMember))) {
      remarks.push(warning(`${setting} names a group without a visible member`));
    }
  }
  return remarks;
}

async function answers(connection: ServiceConnection, search: Search): Promise<boolean> {
  try {
    return (await connection.search(search)).length > 0;
  } catch (error) {
    if (error instanceof DirectoryFailure && error.reason === 'search base not found' && search.scope === 'base') {
      return false;
    }
    // A server may refuse a search over all people because of its own limits. This says nothing about a login.
    if (error instanceof DirectoryFailure && error.reason === 'search or bind refused') return true;
    throw error;
  }
}

const invisible = (setting: string, attribute: string): string =>
  `${setting}: nobody whom the filter finds shows the attribute ${attribute} to the account`;
const problem = (text: string): Remark => ({ health: 'problem', text });
const warning = (text: string): Remark => ({ health: 'warn', text });
