// Until every class takes its slice of the settings.
export type { LdapSettings as LdapConfig } from '../../directory/ldap-settings';
