import { join } from 'node:path';

import { CertificateAuthority } from './certificates';
import { hostFor } from './choose-host';
import { LdapClient } from './ldap-client';
import { attribute, dnValue } from './ldif';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import { copyDomain, DOMAIN, newDomain, setPasswordTime, writeSettings } from './samba-domain';
import { freeAddress, UnprivilegedHost } from './samba-host';
import { ServerProcess } from './server-process';

export interface Account {
  /** The sAMAccountName. */
  name: string;
  password: string;
  /** Default: the name. */
  cn?: string;
  mail?: string;
  /** The userPrincipalName. Default: `name@example.test`. */
  principalName?: string;
  /** The organizational unit. Default: that of the staff. */
  unit?: string;
}

/** Bits of userAccountControl. */
const ENABLED = '512';
const DISABLED = '514';
/** The start of 1970 as Active Directory counts: steps of 100 ns since 1601. */
const LONG_AGO = '116444736000000000';

/**
 * A private Samba as domain controller of Active Directory: LDAP alone, with its default rule that a simple bind needs
 * TLS. Its ports are fixed, so each one has an address of its own in 127.0.0.0/8.
 */
export class Samba extends PrivateServer {
  readonly baseDn = DOMAIN.baseDn;
  readonly staffDn = `OU=Staff,${DOMAIN.baseDn}`;
  readonly elsewhereDn = `OU=Elsewhere,${DOMAIN.baseDn}`;
  readonly lockoutThreshold = DOMAIN.lockoutThreshold;
  /** The account with which the service binds and searches. */
  readonly serviceDn = DOMAIN.service.dn;
  readonly servicePassword = DOMAIN.service.password;

  private constructor(
    server: ServerProcess,
    readonly address: string,
    private readonly directory: string,
    private readonly authority: CertificateAuthority,
    private readonly keeper: LdapClient,
  ) {
    super(server);
  }

  static async start(): Promise<Samba> {
    return inPrivateDirectory('samba', async (directory) => {
      await newDomain(directory);
      return Samba.startIn(directory, await CertificateAuthority.create(directory));
    });
  }

  /** Starts a second controller with the present entries of this one. Later changes are not replicated. */
  async twin(): Promise<Samba> {
    return inPrivateDirectory('samba', async (directory) => {
      await this.suspend();
      await copyDomain(this.directory, directory).finally(() => this.resume());
      return Samba.startIn(directory, this.authority);
    });
  }

  get url(): string {
    return `ldap://${this.address}`;
  }

  get tlsUrl(): string {
    return `ldaps://${this.address}`;
  }

  /** PEM file of the authority that signed the certificate. A twin has the same. */
  get caFile(): string {
    return this.authority.caFile;
  }

  /** Adds an enabled user and returns its DN. */
  async addUser({ name, password, cn = name, mail, principalName, unit = this.staffDn }: Account): Promise<string> {
    const dn = `CN=${dnValue(cn)},${unit}`;
    const values = {
      objectClass: 'user',
      sAMAccountName: name,
      userPrincipalName: principalName ?? `${name}@example.test`,
      displayName: cn,
      ...(mail === undefined ? {} : { mail }),
      userAccountControl: ENABLED,
    };
    const lines = Object.entries(values).map(([key, value]) => attribute(key, value));
    await this.keeper.change(dn, 'add', [...lines, attribute('unicodePwd', Buffer.from(`"${password}"`, 'utf16le'))]);
    return dn;
  }

  /** Adds a group and returns its DN. A member may be a group. */
  async addGroup(name: string, members: string[] = []): Promise<string> {
    const dn = `CN=${dnValue(name)},OU=Groups,${this.baseDn}`;
    const values = [attribute('objectClass', 'group'), attribute('sAMAccountName', name)];
    await this.keeper.change(dn, 'add', [...values, ...members.map((member) => attribute('member', member))]);
    return dn;
  }

  async addMember(group: string, member: string): Promise<void> {
    await this.keeper.change(group, 'modify', ['add: member', attribute('member', member)]);
  }

  async removeMember(group: string, member: string): Promise<void> {
    await this.keeper.change(group, 'modify', ['delete: member', attribute('member', member)]);
  }

  /** Replaces the value of one attribute. */
  async set(dn: string, key: string, value: string): Promise<void> {
    await this.keeper.change(dn, 'modify', [`replace: ${key}`, attribute(key, value)]);
  }

  /** Gives an entry another common name, and returns its new DN. */
  async rename(dn: string, cn: string): Promise<string> {
    const unit = dn.slice(dn.indexOf(',OU=') + 1);
    await this.keeper.change(dn, 'modrdn', [attribute('newrdn', `CN=${dnValue(cn)}`), 'deleteoldrdn: 1']);
    return `CN=${dnValue(cn)},${unit}`;
  }

  /** Moves an entry to another organizational unit, and returns its new DN. */
  async move(dn: string, unit: string): Promise<string> {
    const name = dn.slice(0, dn.indexOf(',OU='));
    const change = [attribute('newrdn', name), 'deleteoldrdn: 1', attribute('newsuperior', unit)];
    await this.keeper.change(dn, 'modrdn', change);
    return `${name},${unit}`;
  }

  async remove(dn: string): Promise<void> {
    await this.keeper.change(dn, 'delete', []);
  }

  async disable(dn: string): Promise<void> {
    await this.set(dn, 'userAccountControl', DISABLED);
  }

  async enable(dn: string): Promise<void> {
    await this.set(dn, 'userAccountControl', ENABLED);
  }

  async expireAccount(dn: string): Promise<void> {
    await this.set(dn, 'accountExpires', LONG_AGO);
  }

  async expirePassword(dn: string): Promise<void> {
    await setPasswordTime(join(this.directory, 'smb.conf'), dn, LONG_AGO);
  }

  async demandNewPassword(dn: string): Promise<void> {
    await this.set(dn, 'pwdLastSet', '0');
  }

  /** Forbids the login at every hour of the week: one bit for each of the 168 hours. */
  async closeHours(dn: string): Promise<void> {
    await this.keeper.change(dn, 'modify', ['replace: logonHours', attribute('logonHours', Buffer.alloc(21))]);
  }

  /** Binds with wrong passwords until the domain locks the account. */
  async lock(dn: string): Promise<void> {
    const guesser = new LdapClient(this.tlsUrl, this.caFile, { name: dn, password: 'wrong' });
    for (let n = 0; n < DOMAIN.lockoutThreshold; n++) await guesser.read('').catch(() => undefined);
  }

  /** The wrong passwords that the domain has counted for this account since the last right one. */
  async wrongPasswords(dn: string): Promise<number> {
    const found = await this.keeper.read(dn, 'badPwdCount');
    return Number(/^badPwdCount: (\d+)$/m.exec(found)?.[1] ?? Number.NaN);
  }

  private static async startIn(directory: string, authority: CertificateAuthority): Promise<Samba> {
    // Fails with a message when the program is missing.
    hostFor('samba', directory, []);
    const address = await freeAddress();
    const { certFile, keyFile } = await authority.issue([address, 'dc1.example.test']);
    const settings = await writeSettings(directory, {
      interfaces: `${address}/8`,
      'bind interfaces only': 'yes',
      'tls certfile': certFile,
      'tls keyfile': keyFile,
      'tls cafile': authority.caFile,
    });
    const keeper = new LdapClient(`ldaps://${address}`, authority.caFile, DOMAIN.keeper);
    const server = await ServerProcess.start({
      program: 'samba',
      args: ['--interactive', '--model=single', `--configfile=${settings}`, '--debug-stdout'],
      host: new UnprivilegedHost(),
      directory,
      ready: () => keeper.read(DOMAIN.baseDn, 'dc'),
    });
    return new Samba(server, address, directory, authority, keeper);
  }
}
