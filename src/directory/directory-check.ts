import { randomUUID } from 'node:crypto';
import { directoryBudgetMs } from './ldap-limits';
import type { LdapSettings } from './ldap-settings';
import { inspectGroups, inspectPeople, type Remark } from './client/directory-inspection';
import { DirectoryServer } from './client/directory-server';
import { DirectoryFailure, type FailureReason } from './protocol/directory-failure';

export interface DirectoryFinding {
  /** `ldap://host:port` */
  readonly server: string;
  /** `problem`: nobody can log in at this server. */
  readonly health: 'ok' | 'warn' | 'problem';
  /** One line for the operator, without a DN or a secret. It names the settings to change. */
  readonly detail: string;
}

const advice: Record<FailureReason, string> = {
  'connection refused or lost': 'check the host and port of LDAP_URL, and the network',
  'certificate or TLS refused': 'set LDAP_CA_FILE to the authority of the server, and use the name in its certificate',
  'no answer in time': 'check the host of LDAP_URL and the firewalls, or raise LDAP_TIMEOUT_MS',
  'malformed answer': 'check that LDAP_URL names an LDAP server',
  'answer too large': 'make LDAP_SEARCH_FILTER match fewer entries',
  'StartTLS refused': 'use ldaps:// in LDAP_URL, without LDAP_START_TLS',
  'TLS demanded': 'use ldaps:// in LDAP_URL, or LDAP_START_TLS=true',
  'service account refused': 'check LDAP_BIND_DN and LDAP_BIND_PASSWORD',
  'search base not found': 'check LDAP_SEARCH_BASE, and what the service account may read',
  'more than one entry': 'make LDAP_SEARCH_FILTER more exact',
  'entry without a DN': 'check the server',
  'search or bind refused': 'check what the service account may do',
  'LDAP client not loaded': 'check the limit of open files, and the installation',
};

/**
 * For `doctor`: tries each server of `LDAP_URL` as a login would. It connects, starts TLS, binds as the service account,
 * searches, and looks for the attributes and groups that a login needs. It never binds as a user. The time limit of one
 * check is that of a login.
 */
export function checkDirectory(config: LdapSettings): Promise<DirectoryFinding[]> {
  return Promise.all(config.urls.map((url) => checkServer(new DirectoryServer(url, config), config)));
}

async function checkServer(server: DirectoryServer, config: LdapSettings): Promise<DirectoryFinding> {
  const start = performance.now();
  try {
    const found = await server.find({ name: randomUUID() }, directoryBudgetMs);
    const ms = Math.round(performance.now() - start);
    if (found.kind !== 'nobody') {
      const text = 'LDAP_SEARCH_FILTER finds an entry for a name that nobody has: it must demand {{username}}';
      return findingOf(server, [{ health: 'problem', text }], ms);
    }
    // Each of the two has a connection of its own, because one connection may carry only the answers of a login.
    const [people, groups] = await Promise.all([
      server.search(directoryBudgetMs, (connection) => inspectPeople(connection, config)),
      server.search(directoryBudgetMs, (connection) => inspectGroups(connection, config)),
    ]);
    const clear: Remark = { health: 'warn', text: 'passwords travel in clear: use ldaps:// or LDAP_START_TLS' };
    return findingOf(server, [...people, ...groups, ...(server.isEncrypted ? [] : [clear])], ms);
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error;
    return { server: server.label, health: 'problem', detail: `${error.message}: ${advice[error.reason]}` };
  }
}

function findingOf(server: DirectoryServer, remarks: readonly Remark[], ms: number): DirectoryFinding {
  const worst = remarks.find(({ health }) => health === 'problem') ?? remarks[0];
  const works = `service account and search work${server.isEncrypted ? ' over TLS' : ''} (${ms} ms)`;
  const detail = [works, ...remarks.map(({ text }) => text)].join(', but ');
  return { server: server.label, health: worst?.health ?? 'ok', detail };
}
