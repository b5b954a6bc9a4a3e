import { isServiceLink } from './did-you-mean';

const address = 'HOST|HOSTNAME|SERVER|PORT';
const account = 'USER|USERNAME|PASS|PASSWORD';

/** Names under which other programs know an address or an account, and the setting that has it here. */
const names: readonly [pattern: RegExp, meant: string][] = [
  [new RegExp(`^(SMTP|MAIL|EMAIL)_(HOST_)?(${address}|${account}|SECURE|SSL|TLS)$`), 'SMTP_URL'],
  [/^SMTP_(FROM|SENDER)$/, 'MAIL_FROM'],
  [new RegExp(`^(DB|DATABASE|MYSQL|MARIADB)_(${address}|${account}|NAME|DATABASE|URL|URI)$`), 'DATABASE_URL'],
  [new RegExp(`^REDIS_(${address}|${account}|DB|DATABASE)$`), 'REDIS_URL'],
  [new RegExp(`^LDAP_(${address}|URIS?|URLS)$`), 'LDAP_URL'],
  [/^LDAP_(BIND_)?(USER|USERNAME)$/, 'LDAP_BIND_DN'],
  [/^LDAP_(BIND_)?(PASS|PASSWORD)$/, 'LDAP_BIND_PASSWORD'],
  [/^LDAP_(BASE|BASE_?DN|SEARCH_DN)$/, 'LDAP_SEARCH_BASE'],
  [/^LDAP_(USER_)?FILTER$/, 'LDAP_SEARCH_FILTER'],
];

/** Hosting platforms and the images of these servers define such names, also next to the setting of this service. */
const oftenDefined = /^(MYSQL|MARIADB|REDIS)_/;

/** The service links of Kubernetes (`DB_PORT=tcp://…`) and the links of Docker (`DB_NAME=/web/db`) look like settings. */
const isInjected = (name: string, value: string): boolean =>
  isServiceLink(value) || (name.endsWith('_NAME') && value.startsWith('/'));

/**
 * Returns the setting to use instead of `SMTP_HOST`, `DB_PASSWORD`, `LDAP_PORT` and similar names of other programs. If
 * such a name was ignored, the service would send no mail or count its rate limits alone, without a word.
 * @param isSet whether a setting of this service has a value
 */
export function settingElsewhere(name: string, value: string, isSet: (setting: string) => boolean): string | undefined {
  const typed = name.toUpperCase().replace(/_FILE$/, '');
  const meant = names.find(([pattern]) => pattern.test(typed))?.[1];
  if (meant === undefined || (oftenDefined.test(typed) && isSet(meant))) return undefined;
  return isInjected(name, value) ? undefined : meant;
}
