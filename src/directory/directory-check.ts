import { randomUUID } from 'node:crypto';
import type { LdapConfig } from '../platform/config/ldap-config';
import { DirectoryFailure } from './protocol/directory-failure';
import { DirectoryServer } from './client/directory-server';

export interface DirectoryFinding {
  /** `ldap://host:port` */
  readonly server: string;
  readonly ok: boolean;
  /** One line for the operator, without a DN or a secret. */
  readonly detail: string;
}

/** The time limit of one check, equal to that of a login. */
const budgetMs = 4400;

/**
 * For `doctor`: checks each server of `LDAP_URL`. It connects, starts TLS, binds as the service account and searches
 * for a name that nobody has. The check therefore never binds as a user.
 */
export function checkDirectory(config: LdapConfig): Promise<DirectoryFinding[]> {
  return Promise.all(config.urls.map((url) => checkServer(new DirectoryServer(url, config), config)));
}

async function checkServer(server: DirectoryServer, config: LdapConfig): Promise<DirectoryFinding> {
  const encrypted = server.label.startsWith('ldaps:') || config.startTls;
  const start = performance.now();
  try {
    const found = await server.find({ name: randomUUID() }, budgetMs);
    if (found.kind !== 'nobody') {
      return { server: server.label, ok: false, detail: 'the search filter finds an entry for a name that nobody has' };
    }
    const ms = Math.round(performance.now() - start);
    const warning = encrypted ? '' : ', but passwords travel in clear: use ldaps:// or LDAP_START_TLS';
    return { server: server.label, ok: true, detail: `service account and search work (${ms} ms)${warning}` };
  } catch (error) {
    if (!(error instanceof DirectoryFailure)) throw error;
    return { server: server.label, ok: false, detail: error.message };
  }
}
