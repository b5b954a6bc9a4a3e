import type { LdapSettings } from '../ldap-settings';
import { DirectoryFailure } from '../protocol/directory-failure';
import type { DirectoryPerson, Finding, GroupMemberships } from '../person';
import { expiryOf, idAttributes, idOf, isDisabled, stateAttributes, textsOf } from './entry-values';
import { filterFor, idAndNameFilter, idFilter, memberFilters, memberOfGroupFilter } from './search-filter';
import { loadLdapjs, type SearchFilter } from './ldap-library';
import { noAttribute, type SearchedEntry, type ServiceConnection } from './service-connection';

/** Who is looked for: whom `LDAP_SEARCH_FILTER` finds under a name, or the entry with an id, whatever its name is. */
export type PersonQuery = { readonly name: string } | { readonly id: string };

/** Result codes of RFC 4511 Appendix A for an entry that another server has, or that the service account may not see. */
const [referral, insufficientAccess] = [10, 50];
/** timeLimitExceeded, adminLimitExceeded, busy, unavailable: the server has not judged the question. */
const notJudged: readonly unknown[] = [3, 11, 51, 52];

/** Finds a person as the service account, on one connection. */
export class PersonSearch {
  constructor(
    private readonly connection: ServiceConnection,
    private readonly config: LdapSettings,
  ) {}

  /** @throws DirectoryFailure */
  async find(query: PersonQuery): Promise<Finding> {
    const { parseFilter } = await loadLdapjs();
    const { searchFilter } = this.config;
    const entries = await ('id' in query
      ? this.withId(query.id)
      : this.below(parseFilter(filterFor(searchFilter, query.name))));
    const [entry] = entries;
    if (entry === undefined) return { kind: 'nobody' };
    if (entries.length > 1) return { kind: 'several' };
    return { kind: 'person', person: await this.personOf(entry) };
  }

  /** `LDAP_SEARCH_FILTER` may allow only some entries. It must accept the entry under a name that it has now. */
  private async withId(id: string): Promise<SearchedEntry[]> {
    const library = await loadLdapjs();
    const [entry] = await this.below(idFilter(library, id));
    if (entry === undefined) return [];
    const { login, email } = this.config.attributes;
    const named = new Set([login, email, ...this.config.matchAttributes]);
    const names = [...new Set([...named].flatMap((attribute) => textsOf(entry.values, attribute)))];
    return names.length === 0 ? [] : this.below(idAndNameFilter(library, this.config, id, names));
  }

  private below(filter: SearchFilter): Promise<SearchedEntry[]> {
    const attributes = new Set([
      ...Object.values(this.config.attributes),
      ...this.config.matchAttributes,
      ...Object.values(idAttributes),
      ...stateAttributes,
    ]);
    return this.connection.search({ base: this.config.searchBase, scope: 'sub', filter, attributes: [...attributes] });
  }

  private async personOf({ dn, values }: SearchedEntry): Promise<DirectoryPerson> {
    const { login, email, name } = this.config.attributes;
    return {
      dn,
      id: idOf(values),
      loginNames: textsOf(values, login),
      matchNames: this.config.matchAttributes.flatMap((attribute) => textsOf(values, attribute)),
      email: textsOf(values, email)[0] ?? null,
      name: textsOf(values, name)[0] ?? null,
      disabled: isDisabled(values),
      expires: expiryOf(values),
      groups: await this.groupsOf(dn),
    };
  }

  private async groupsOf(dn: string): Promise<GroupMemberships> {
    const { required, admin, named } = this.config.groups;
    return {
      required: required === undefined || (await this.isMember(dn, required)),
      admin: admin === undefined ? null : await this.isMember(dn, admin),
      ...(named === undefined ? {} : { names: await this.namesOf(dn, named) }),
    };
  }

  /** One after the other: the connection is that of one login, and its answers have a limit together. */
  private async namesOf(dn: string, named: ReadonlyMap<string, string>): Promise<string[]> {
    const names = new Set<string>();
    for (const [group, name] of named) if (!names.has(name) && (await this.isMember(dn, group))) names.add(name);
    return [...names];
  }

  /** The server compares the DNs, so case, spaces and escapes do not matter (RFC 4514). */
  private async isMember(dn: string, group: string): Promise<boolean> {
    const [nested, direct] = memberFilters(group);
    const asMember = this.matches(dn, nested).catch((error: unknown) => {
      // Only a server that refuses the rule is asked without it. One that is too slow for the rule has not answered.
      if (error instanceof DirectoryFailure && isRefusal(error)) return this.matches(dn, direct);
      throw error;
    });
    return (await asMember) || (await this.matches(group, memberOfGroupFilter(dn)));
  }

  /** False also when there is no such entry, or none that the service account may see. */
  private async matches(base: string, filter: string): Promise<boolean> {
    const { parseFilter } = await loadLdapjs();
    try {
      const search = { base, scope: 'base', filter: parseFilter(filter), attributes: [noAttribute] } as const;
      return (await this.connection.search(search)).length > 0;
    } catch (error) {
      if (error instanceof DirectoryFailure && isElsewhere(error)) return false;
      throw error;
    }
  }
}

function isRefusal({ reason, code }: DirectoryFailure): boolean {
  return reason === 'search or bind refused' && !notJudged.includes(code);
}

function isElsewhere({ reason, code }: DirectoryFailure): boolean {
  return reason === 'search base not found' || code === referral || code === insufficientAccess;
}
