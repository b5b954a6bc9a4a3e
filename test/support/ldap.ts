import type { DirectoryPerson } from '../../src/directory/person';
import type { OpenLdap } from './servers/openldap';
import { type Answer, TestService } from './app';

export const directoryPassword = 'wonder-land-1';

/** Settings of a service that uses this directory. */
export function ldapSettings(server: OpenLdap, more: Record<string, string> = {}): Record<string, string> {
  return {
    LDAP_URL: server.url,
    LDAP_BIND_DN: server.adminDn,
    LDAP_BIND_PASSWORD: server.adminPassword,
    LDAP_SEARCH_BASE: server.peopleDn,
    ...more,
  };
}

/** Settings of a directory that does not run, for tests that answer in its place. */
export const absentDirectory = {
  LDAP_URL: 'ldap://127.0.0.1:1',
  LDAP_BIND_DN: 'cn=service',
  LDAP_BIND_PASSWORD: 'service-password',
  LDAP_SEARCH_BASE: 'dc=example',
};

/** Adds a person to the directory, without a user row in the service. */
export async function givenPerson(server: OpenLdap, uid: string, more: { cn?: string; mail?: string } = {}) {
  return server.addUser({ uid, cn: uid, mail: `${uid}@example.test`, password: directoryPassword, ...more });
}

/** What the directory finds for a name, for tests that answer in its place. */
export function foundPerson(loginName: string, more: Partial<DirectoryPerson> = {}) {
  const person: DirectoryPerson = {
    dn: `uid=${loginName},dc=example`,
    id: null,
    loginNames: [loginName],
    matchNames: [loginName],
    email: null,
    name: null,
    disabled: false,
    expires: null,
    groups: { required: true, admin: null },
    ...more,
  };
  return { kind: 'person', person } as const;
}

export function ldapLogin(
  service: TestService,
  username: string,
  password: string = directoryPassword,
): Promise<Answer> {
  return service.login(username, password, { provider: 'ldap' });
}

/** Returns an unused name, because the tests of a file share one directory. */
let names = 0;
export function freshName(stem = 'user'): string {
  return `${stem}${++names}`;
}
