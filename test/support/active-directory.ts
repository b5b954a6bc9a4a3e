import { freshName } from './ldap';
import { TestService } from './app';
import type { Samba } from './servers/samba';

export const domainPassword = 'wonder-Land-1';

/** Settings of a service that uses this domain, as docs/operations/active-directory.md recommends them. */
export function domainSettings(domain: Samba, more: Record<string, string> = {}): Record<string, string> {
  return {
    LDAP_URL: domain.tlsUrl,
    LDAP_CA_FILE: domain.caFile,
    LDAP_BIND_DN: domain.serviceDn,
    LDAP_BIND_PASSWORD: domain.servicePassword,
    LDAP_SEARCH_BASE: domain.baseDn,
    LDAP_SEARCH_FILTER:
      '(&(objectCategory=person)(objectClass=user)(|(sAMAccountName={{username}})(userPrincipalName={{username}})(mail={{username}})))',
    LDAP_ATTR_LOGIN: 'sAMAccountName',
    LDAP_ATTR_EMAIL: 'mail',
    LDAP_ATTR_NAME: 'displayName',
    LDAP_JIT_PROVISIONING: 'true',
    ...more,
  };
}

export interface Employee {
  readonly name: string;
  readonly dn: string;
}

/** Adds an employee to the domain, who has never logged in. */
export async function givenEmployee(domain: Samba, name = freshName('employee')): Promise<Employee> {
  const account = { name, password: domainPassword, cn: `${name} of the staff`, mail: `${name}@example.test` };
  return { name, dn: await domain.addUser(account) };
}

/** The answer of `/login`: `success` or the error code. */
export async function domainLogin(service: TestService, name: string, password = domainPassword): Promise<string> {
  const { status, body } = await service.login(name, password, { provider: 'ldap' });
  return status === 200 ? 'success' : String(body.error_code);
}

/** Runs `work` with a service of its own settings. */
export async function withService(
  settings: Record<string, string>,
  work: (service: TestService) => Promise<void>,
): Promise<void> {
  const service = await TestService.start(settings);
  try {
    await work(service);
  } finally {
    await service.stop();
  }
}
