import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CertificateAuthority } from './certificates';
import { hostFor } from './choose-host';
import { eventually } from './eventually';
import { freePort } from './free-port';
import { attribute, dnValue } from './ldif';
import { inPrivateDirectory } from './private-directory';
import { PrivateServer } from './private-server';
import type { ServerHost } from './server-host';
import { ServerProcess } from './server-process';

export interface Person {
  uid: string;
  cn: string;
  mail: string;
  password: string;
}

const BASE = 'dc=example,dc=test';
/** The account with which the service binds and searches. Anonymous clients may not read. */
const ADMIN = { dn: `cn=admin,${BASE}`, password: 'admin-password' };
/** The account with which this class binds, so that its connections are not counted as those of the service. */
const KEEPER = { dn: `cn=keeper,${BASE}`, password: 'keeper-password' };

/** A private OpenLDAP with ldap://, StartTLS, ldaps:// and its own authority. It logs binds and connections. */
export class OpenLdap extends PrivateServer {
  readonly baseDn = BASE;
  readonly peopleDn = `ou=people,${BASE}`;
  readonly adminDn = ADMIN.dn;
  readonly adminPassword = ADMIN.password;
  private marks = 0;

  private constructor(
    server: ServerProcess,
    private readonly host: ServerHost,
    readonly port: number,
    readonly tlsPort: number,
    /** PEM file of the authority that signed the certificate of the server. */
    readonly caFile: string,
  ) {
    super(server);
  }

  /** @param certificateNames names in the certificate, for tests with a wrong one. Default: 127.0.0.1 and localhost */
  static async start({ certificateNames }: { certificateNames?: string[] } = {}): Promise<OpenLdap> {
    return inPrivateDirectory('openldap', async (directory) => {
      const [port, tlsPort] = [await freePort(), await freePort()];
      const host = hostFor('slapd', directory, [port, tlsPort]);
      const authority = await CertificateAuthority.create(directory);
      const { certFile, keyFile } = await authority.issue(certificateNames);
      await mkdir(join(directory, 'data'));
      const config = join(directory, 'slapd.conf');
      await writeFile(config, configuration(directory, { caFile: authority.caFile, certFile, keyFile }));
      await writeFile(join(directory, 'tree.ldif'), TREE);
      await host.prepare('slapadd', ['-f', config, '-l', join(directory, 'tree.ldif')]);
      const addresses = `ldap://${host.listenAddress}:${port}/ ldaps://${host.listenAddress}:${tlsPort}/`;
      const server = await ServerProcess.start({
        program: 'slapd',
        // `-d` keeps slapd in the foreground and sends the log to its output. `stats` logs one line per operation.
        args: ['-h', addresses, '-f', config, '-d', 'stats'],
        host,
        directory,
        ready: () => ask(host, port, '(objectClass=*)'),
      });
      return new OpenLdap(server, host, port, tlsPort, authority.caFile);
    });
  }

  /** `ldap://127.0.0.1:port`, plain or StartTLS */
  get url(): string {
    return `ldap://127.0.0.1:${this.port}`;
  }

  /** `ldaps://127.0.0.1:port` */
  get tlsUrl(): string {
    return `ldaps://127.0.0.1:${this.tlsPort}`;
  }

  dnOf(uid: string): string {
    return `uid=${dnValue(uid)},${this.peopleDn}`;
  }

  /** Adds an inetOrgPerson below ou=people and returns its DN. */
  async addUser({ uid, cn, mail, password }: Person): Promise<string> {
    const dn = this.dnOf(uid);
    const values = { dn, objectClass: 'inetOrgPerson', uid, cn, sn: cn, mail, userPassword: password };
    await this.change(
      'ldapadd',
      Object.entries(values).map(([key, value]) => attribute(key, value)),
    );
    return dn;
  }

  /** Replaces the value of one attribute of a user. */
  async changeUser(uid: string, key: string, value: string): Promise<void> {
    const change = [attribute('dn', this.dnOf(uid)), 'changetype: modify', `replace: ${key}`, attribute(key, value)];
    await this.change('ldapmodify', change);
  }

  /** Gives the entry of a user another uid. The entry and its `entryUUID` stay the same. */
  async renameUser(uid: string, newUid: string): Promise<void> {
    const change = [attribute('dn', this.dnOf(uid)), 'changetype: modrdn', attribute('newrdn', `uid=${newUid}`)];
    await this.change('ldapmodify', [...change, 'deleteoldrdn: 1']);
  }

  async removeUser(uid: string): Promise<void> {
    await this.change('ldapmodify', [attribute('dn', this.dnOf(uid)), 'changetype: delete']);
  }

  /** Adds a groupOfNames below ou=groups and returns its DN. The overlay memberOf maintains the entries of its members. */
  async addGroup(cn: string, members: string[]): Promise<string> {
    const dn = `cn=${cn.replace(/[,+"\\<>;=#]/g, '\\$&')},ou=groups,${this.baseDn}`;
    const lines = [attribute('dn', dn), 'objectClass: groupOfNames', attribute('cn', cn)];
    await this.change('ldapadd', [...lines, ...members.map((member) => attribute('member', member))]);
    return dn;
  }

  async setMembers(group: string, members: string[]): Promise<void> {
    const change = [attribute('dn', group), 'changetype: modify', 'replace: member'];
    await this.change('ldapmodify', [...change, ...members.map((member) => attribute('member', member))]);
  }

  /** Adds a groupOfUniqueNames, which the overlay memberOf does not maintain. */
  async addUniqueGroup(cn: string, members: string[]): Promise<string> {
    const dn = `cn=${cn},ou=groups,${this.baseDn}`;
    const lines = [attribute('dn', dn), 'objectClass: groupOfUniqueNames', attribute('cn', cn)];
    await this.change('ldapadd', [...lines, ...members.map((member) => attribute('uniqueMember', member))]);
    return dn;
  }

  /** Number of bind attempts with this DN, successful or not. */
  async bindCount(dn: string): Promise<number> {
    await this.settle();
    const wanted = `BIND dn="${dn}" method=128`.toLowerCase();
    return this.server.lines.filter((line) => line.toLowerCase().includes(wanted)).length;
  }

  /** Number of connections since the last start, without those of this class. */
  async connectionCount(): Promise<number> {
    await this.settle();
    const opened = new Set(this.connectionsIn(' ACCEPT from '));
    this.connectionsIn(`BIND dn="${KEEPER.dn}"`).forEach((own) => opened.delete(own));
    return opened.size;
  }

  /** Waits until the log contains all operations so far: this sends a marked search and waits for its log line. */
  private async settle(): Promise<void> {
    const filter = `(description=mark-${++this.marks})`;
    await ask(this.host, this.port, filter);
    await eventually(() => this.server.lines.some((line) => line.includes(filter)), { what: `slapd logs ${filter}` });
  }

  private connectionsIn(text: string): string[] {
    return this.server.lines.flatMap((line) => (line.includes(text) ? (/conn=\d+/.exec(line) ?? []) : []));
  }

  private async change(program: 'ldapadd' | 'ldapmodify', lines: string[]): Promise<void> {
    await this.host.beside(program, asKeeper(this.port), `${lines.join('\n')}\n`);
  }
}

function asKeeper(port: number): string[] {
  return ['-x', '-H', `ldap://127.0.0.1:${port}`, '-o', 'nettimeout=60', '-D', KEEPER.dn, '-w', KEEPER.password];
}

async function ask(host: ServerHost, port: number, filter: string): Promise<void> {
  await host.beside('ldapsearch', [...asKeeper(port), '-LLL', '-b', BASE, '-s', 'base', filter]);
}

function configuration(directory: string, tls: { caFile: string; certFile: string; keyFile: string }): string {
  return `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile ${directory}/slapd.pid
argsfile ${directory}/slapd.args
TLSCACertificateFile ${tls.caFile}
TLSCertificateFile ${tls.certFile}
TLSCertificateKeyFile ${tls.keyFile}
TLSVerifyClient never
database mdb
maxsize 67108864
suffix "${BASE}"
rootdn "${KEEPER.dn}"
rootpw ${KEEPER.password}
directory ${directory}/data
index objectClass,uid,mail,member,entryUUID eq
overlay memberof
overlay ppolicy
access to attrs=userPassword by anonymous auth by * none
access to * by users read by * none
`;
}

const TREE = `
dn: ${BASE}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ${ADMIN.dn}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: admin
userPassword: ${ADMIN.password}

dn: ou=people,${BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${BASE}
objectClass: organizationalUnit
ou: groups
`;
