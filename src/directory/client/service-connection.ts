import { DirectoryFailure } from '../protocol/directory-failure';
import { type EntryValues, entryValues } from './entry-values';
import { type LdapjsClient, loadLdapjs, type SearchFilter } from './ldap-library';
import { ldapjsFailure } from './ldapjs-failure';

interface FoundEntry {
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface SearchedEntry {
  readonly dn: string;
  readonly values: EntryValues;
}

export interface Search {
  readonly base: string;
  readonly scope: 'base' | 'sub';
  readonly filter: SearchFilter;
  readonly attributes: readonly string[];
}

/** No attribute (RFC 4511 §4.5.1.8): the search only tells whether an entry matches. */
export const noAttribute = '1.1';
/** Two entries are an ambiguous match. The server need not send more. */
const sizeLimit = 2;
const sizeLimitExceeded = 4;

/** A connection that is bound as the service account. Its owner closes the socket below it (`LoginSockets`). */
export class ServiceConnection {
  private constructor(
    private readonly client: LdapjsClient,
    /** Rejects when the connection breaks. */
    private readonly broken: Promise<never>,
  ) {}

  /** @throws DirectoryFailure */
  static async open(options: object, account: { readonly dn: string; readonly password: string }) {
    const { createClient } = await loadLdapjs();
    const client = createClient({ ...options, reconnect: false, strictDN: false });
    const broken = new Promise<never>((_, reject) => {
      // The listeners stay for the life of the client: an error event without a listener ends the process.
      for (const event of ['error', 'connectError', 'connectTimeout', 'setupError']) {
        client.on(event, (error: unknown) => reject(ldapjsFailure(error, 'search')));
      }
    });
    broken.catch(() => undefined);
    const bound = new Promise<void>((resolve, reject) => {
      client.bind(account.dn, account.password, (error) => {
        if (error) reject(ldapjsFailure(error, 'service bind'));
        else resolve();
      });
    });
    await Promise.race([broken, bound]);
    return new ServiceConnection(client, broken);
  }

  /** @throws DirectoryFailure, also for an entry without a DN */
  search({ base, scope, filter, attributes }: Search): Promise<SearchedEntry[]> {
    const searched = new Promise<SearchedEntry[]>((resolve, reject) => {
      const failed = (error: unknown) => reject(ldapjsFailure(error, 'search'));
      const entries: SearchedEntry[] = [];
      const options = { scope, filter, attributes: [...attributes], sizeLimit };
      this.client.search(base, options, (error, result) => {
        if (error) return failed(error);
        result.on('searchEntry', ({ raw }: FoundEntry) => {
          const dn = String(raw.dn);
          if (dn.trim() === '') failed(new DirectoryFailure('entry without a DN'));
          entries.push({ dn, values: entryValues(raw) });
        });
        result.on('error', (problem: { code?: unknown }) => {
          if (problem.code === sizeLimitExceeded && entries.length === sizeLimit) resolve(entries);
          else failed(problem);
        });
        result.on('end', () => resolve(entries));
      });
    });
    return Promise.race([this.broken, searched]);
  }
}
