import { readFileSync } from 'node:fs';
import { isDistinguishedName } from './client/distinguished-name';
import { isSearchFilter } from './client/ldap-filter';
import { defaultTimeoutMs, longestTimeoutMs, mostNamedGroups } from './ldap-limits';
import { isPlainText, plainTextRule } from '../shared/plain-text';
import type { SettingsReader } from '../platform/config/settings-reader';
import { urlOf } from '../shared/url-text';

export interface LdapSettings {
  /** The servers, in the order in which they are tried. */
  readonly urls: readonly string[];
  readonly bindDn: string;
  readonly bindPassword: string;
  readonly searchBase: string;
  readonly searchFilter: string;
  readonly startTls: boolean;
  /** The certificate, as PEM, of the authority that signed the certificate of the directory. */
  readonly ca?: string;
  readonly timeoutMs: number;
  readonly jitProvisioning: boolean;
  readonly attributes: { readonly login: string; readonly email: string; readonly name: string };
  /** Attributes of which one value must be the login name of an account that is not bound to an entry yet. */
  readonly matchAttributes: readonly string[];
  /** The nickname and the e-mail address of a user follow the directory at each login. */
  readonly syncAttributes: boolean;
  /** DNs of groups. Undefined when not set. */
  readonly groups: {
    readonly required?: string;
    readonly admin?: string;
    /** The DNs of groups, and the names of the groups here that follow them. */
    readonly named?: ReadonlyMap<string, string>;
  };
  readonly recheck: {
    /** A refresh asks the directory again after this time. 0 turns the rule off. */
    readonly seconds: number;
    /** How long sessions go on without an answer of the directory. */
    readonly graceSeconds: number;
  };
}

export abstract class DirectorySettings {
  /** Undefined if `LDAP_URL` is not set. The provider `ldap` is then off. */
  abstract readonly ldap: LdapSettings | undefined;
}

export function readDirectorySettings(env: SettingsReader): DirectorySettings {
  return { ldap: readLdapSettings(env) };
}

function readLdapSettings(env: SettingsReader): LdapSettings | undefined {
  env.mention('LDAP_BIND_DN', 'LDAP_BIND_PASSWORD', 'LDAP_SEARCH_BASE', 'LDAP_SEARCH_FILTER', 'LDAP_START_TLS');
  env.mention('LDAP_CA_FILE', 'LDAP_TIMEOUT_MS', 'LDAP_JIT_PROVISIONING');
  env.mention('LDAP_ATTR_LOGIN', 'LDAP_ATTR_EMAIL', 'LDAP_ATTR_NAME', 'LDAP_MATCH_ATTRIBUTES');
  env.mention('LDAP_SYNC_ATTRIBUTES', 'LDAP_RECHECK_SECONDS', 'LDAP_RECHECK_GRACE_SECONDS');
  const urls = env.list('LDAP_URL');
  const groups = {
    required: readGroup(env, 'LDAP_GROUP_REQUIRED'),
    admin: readGroup(env, 'LDAP_GROUP_ADMIN'),
  };
  if (urls.length === 0) {
    // Without a directory a group would restrict nothing, and the operator would believe that it does.
    if (groups.required !== undefined) env.problem('LDAP_GROUP_REQUIRED', 'needs LDAP_URL');
    if (groups.admin !== undefined) env.problem('LDAP_GROUP_ADMIN', 'needs LDAP_URL');
    if (env.optional('LDAP_GROUPS') !== undefined) env.problem('LDAP_GROUPS', 'needs LDAP_URL');
    return undefined;
  }
  if (urls.some((url) => !/^ldaps?:$/.test(urlOf(url)?.protocol ?? ''))) {
    env.problem('LDAP_URL', 'must be one or several ldap:// or ldaps:// addresses, separated by commas');
  }
  const startTls = env.flag('LDAP_START_TLS', false);
  if (startTls && urls.some((url) => url.startsWith('ldaps:'))) {
    env.problem('LDAP_START_TLS', 'cannot be used with an ldaps:// address: set it to false, or use ldap://');
  }
  if (!startTls && urls.some((url) => url.startsWith('ldap://['))) {
    env.problem('LDAP_URL', 'with an IPv6 address needs ldaps:// or LDAP_START_TLS=true; a host name needs neither');
  }
  return {
    urls,
    bindDn: required(env, 'LDAP_BIND_DN'),
    bindPassword: required(env, 'LDAP_BIND_PASSWORD'),
    searchBase: required(env, 'LDAP_SEARCH_BASE'),
    searchFilter: readFilter(env),
    startTls,
    ca: readCa(env),
    timeoutMs: env.count('LDAP_TIMEOUT_MS', defaultTimeoutMs, { max: longestTimeoutMs }),
    jitProvisioning: env.flag('LDAP_JIT_PROVISIONING', false),
    attributes: {
      login: readAttribute(env, 'LDAP_ATTR_LOGIN', 'uid'),
      email: readAttribute(env, 'LDAP_ATTR_EMAIL', 'mail'),
      name: readAttribute(env, 'LDAP_ATTR_NAME', 'cn'),
    },
    matchAttributes: readMatchAttributes(env),
    syncAttributes: env.flag('LDAP_SYNC_ATTRIBUTES', true),
    groups: { ...groups, named: readNamedGroups(env) },
    recheck: readRecheck(env),
  };
}

function readGroup(env: SettingsReader, key: string): string | undefined {
  const dn = env.optional(key);
  if (dn === undefined || isDistinguishedName(dn)) return dn;
  env.problem(key, 'must be the DN of one group such as CN=Portal,OU=Groups,DC=example,DC=com');
  return undefined;
}

/** The message names no DN: it would be a line of the log. */
function readNamedGroups(env: SettingsReader): ReadonlyMap<string, string> | undefined {
  const text = env.optional('LDAP_GROUPS');
  if (text === undefined) return undefined;
  const entries = jsonEntries(text);
  if (entries === undefined || entries.length > mostNamedGroups) {
    const example = '{"CN=Sales,OU=Groups,DC=example,DC=com":"Sales"}';
    env.problem('LDAP_GROUPS', `must be a JSON object of at most ${mostNamedGroups} DNs and names such as ${example}`);
    return undefined;
  }
  const wrong = entries.findIndex(([dn, name]) => !isDistinguishedName(dn) || !isGroupName(name));
  if (wrong !== -1) {
    const rule = `the DN of one group as its key and a name with 1 to 255 characters and ${plainTextRule}`;
    env.problem('LDAP_GROUPS', `entry ${wrong + 1} must have ${rule}`);
  }
  return new Map(entries as [string, string][]);
}

function jsonEntries(text: string): [string, unknown][] | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined;
  } catch {
    return undefined;
  }
}

const isGroupName = (name: unknown): boolean =>
  typeof name === 'string' && name.trim() !== '' && name.length <= 255 && isPlainText(name);

function readRecheck(env: SettingsReader): LdapSettings['recheck'] {
  const seconds = env.count('LDAP_RECHECK_SECONDS', 300, { min: 0 });
  const graceSeconds = env.count('LDAP_RECHECK_GRACE_SECONDS', Math.max(14_400, seconds), { min: 0 });
  if (graceSeconds < seconds) env.problem('LDAP_RECHECK_GRACE_SECONDS', 'must not be less than LDAP_RECHECK_SECONDS');
  return { seconds, graceSeconds };
}

/**
 * A filter that the LDAP library cannot read would end the process at the first login, so it is refused at the start.
 */
function readFilter(env: SettingsReader): string {
  const filter = env.text('LDAP_SEARCH_FILTER', '(uid={{username}})');
  if (!filter.includes('{{username}}')) env.problem('LDAP_SEARCH_FILTER', 'must contain {{username}}');
  else if (!isSearchFilter(filter.replaceAll('{{username}}', 'x'))) {
    env.problem('LDAP_SEARCH_FILTER', 'must be a search filter such as (&(objectClass=person)(uid={{username}}))');
  }
  return filter;
}

/** The name becomes part of a search filter, so only letters, digits and dashes are allowed. */
function readAttribute(env: SettingsReader, key: string, fallback: string): string {
  const name = env.text(key, fallback);
  if (!isAttribute(name)) env.problem(key, 'must be the name of an LDAP attribute such as mail');
  return name;
}

const isAttribute = (name: string): boolean => /^[A-Za-z][A-Za-z0-9-]*$/.test(name);

function readMatchAttributes(env: SettingsReader): string[] {
  if (env.optional('LDAP_MATCH_ATTRIBUTES') === undefined) return [env.text('LDAP_ATTR_LOGIN', 'uid')];
  const names = env.list('LDAP_MATCH_ATTRIBUTES');
  if (names.length === 0 || !names.every(isAttribute)) {
    env.problem('LDAP_MATCH_ATTRIBUTES', 'must be names of LDAP attributes such as uid,mail, separated by commas');
  }
  return names;
}

function required(env: SettingsReader, key: string): string {
  const value = env.optional(key);
  if (value === undefined) env.problem(key, 'is required with LDAP_URL');
  return value ?? '';
}

function readCa(env: SettingsReader): string | undefined {
  const file = env.optional('LDAP_CA_FILE');
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    env.problem('LDAP_CA_FILE', 'names a file that cannot be read: check its path and its permissions');
    return undefined;
  }
}
