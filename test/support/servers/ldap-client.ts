import { attribute } from './ldif';
import { runCommand } from './run-command';

/** Reads and changes entries of a server at ldaps:// with the programs of OpenLDAP. */
export class LdapClient {
  constructor(
    private readonly url: string,
    private readonly caFile: string,
    private readonly account: { readonly name: string; readonly password: string },
  ) {}

  /** Reads one entry as LDIF. The empty DN reads the root entry, which everybody may see. */
  read(dn: string, ...attributes: string[]): Promise<string> {
    return runCommand('ldapsearch', [
      ...this.options(),
      ...['-LLL', '-b', dn, '-s', 'base', '(objectClass=*)'],
      ...attributes,
    ]);
  }

  /** @param lines the rest of an LDIF change record */
  async change(dn: string, type: 'add' | 'modify' | 'modrdn' | 'delete', lines: string[]): Promise<void> {
    const record = [attribute('dn', dn), `changetype: ${type}`, ...lines, ''].join('\n');
    await runCommand('ldapmodify', this.options(), record);
  }

  private options(): string[] {
    const connection = ['-x', '-H', this.url, '-o', 'nettimeout=30', '-o', `TLS_CACERT=${this.caFile}`];
    return [...connection, '-D', this.account.name, '-w', this.account.password];
  }
}
