import LdapStrategy from 'passport-ldapauth';

import { OpenLdap } from '../support/servers/openldap';
import { runCommand } from '../support/servers/run-command';
import { staysSilent } from './silence';

const ALICE = { uid: 'alice', cn: 'Alice Łęcka', mail: 'alice@example.test', password: 'wonder-land-1' };

describe('OpenLdap', () => {
  let server: OpenLdap;

  beforeAll(async () => {
    server = await OpenLdap.start();
    await server.addUser(ALICE);
  });

  afterEach(() => {
    delete process.env.LDAPTLS_CACERT;
  });

  afterAll(() => server.stop());

  function asAdmin(): string[] {
    return ['-D', server.adminDn, '-w', server.adminPassword];
  }

  function asUser(uid: string, password = ALICE.password): string[] {
    return ['-D', server.dnOf(uid), '-w', password];
  }

  /** Opens one connection, binds, asks for its own identity, and closes the connection. */
  async function whoAmI(credentials: string[], url = server.url, ...options: string[]): Promise<string> {
    return (await runCommand('ldapwhoami', ['-x', '-H', url, ...options, ...credentials])).trim();
  }

  async function search(credentials: string[], filter: string): Promise<string> {
    return runCommand('ldapsearch', ['-x', '-LLL', '-H', server.url, ...credentials, '-b', server.baseDn, filter]);
  }

  /** One login with passport-ldapauth, the strategy that the service uses. */
  async function strategyLogin(username: string, password: string): Promise<unknown> {
    const strategy = new LdapStrategy(
      {
        server: {
          url: server.url,
          bindDN: server.adminDn,
          bindCredentials: server.adminPassword,
          searchBase: server.peopleDn,
          searchFilter: '(uid={{username}})',
        },
      },
      (user: unknown, done: (error: unknown, user: unknown) => void) => done(null, user),
    );
    return new Promise((resolve, reject) => {
      Object.assign(strategy, { success: resolve, fail: () => resolve('failed'), error: reject });
      strategy.authenticate({ body: { username, password } } as never);
    });
  }

  it('accepts a right login by passport-ldapauth and refuses a wrong one', async () => {
    expect(await strategyLogin('alice', ALICE.password)).toMatchObject({
      uid: 'alice',
      cn: ALICE.cn,
      mail: ALICE.mail,
    });
    expect(await strategyLogin('alice', 'something else')).toBe('failed');
    expect(await strategyLogin('bob', ALICE.password)).toBe('failed');
  });

  it('shows entries only to bound users, and passwords to nobody', async () => {
    expect(await search(asAdmin(), '(uid=alice)')).toContain('mail: alice@example.test');
    expect(await search(asAdmin(), '(uid=alice)')).not.toContain('userPassword');
    await expect(search([], '(uid=alice)')).rejects.toThrow('No such object');
  });

  it('replaces the value of an attribute', async () => {
    await server.addUser({ ...ALICE, uid: 'moved' });
    await server.changeUser('moved', 'mail', 'new@example.test');
    expect(await search(asAdmin(), '(uid=moved)')).toContain('mail: new@example.test');
  });

  it('accepts a user whose name contains the special characters of a DN', async () => {
    const dn = await server.addUser({ ...ALICE, uid: 'o"brien, p+q' });
    expect(await whoAmI(['-D', dn, '-w', ALICE.password])).toContain('dn:uid=o');
  });

  it('offers StartTLS and LDAPS with a certificate of its own authority', async () => {
    await expect(whoAmI(asUser('alice'), server.url, '-ZZ')).rejects.toThrow();
    await expect(whoAmI(asUser('alice'), server.tlsUrl)).rejects.toThrow();
    process.env.LDAPTLS_CACERT = server.caFile;
    expect(await whoAmI(asUser('alice'), server.url, '-ZZ')).toBe(`dn:${server.dnOf('alice')}`);
    expect(await whoAmI(asUser('alice'), server.tlsUrl)).toBe(`dn:${server.dnOf('alice')}`);
  });

  it('can present a certificate with a wrong name', async () => {
    const misnamed = await OpenLdap.start({ certificateNames: ['other.example.test'] });
    process.env.LDAPTLS_CACERT = misnamed.caFile;
    try {
      await expect(whoAmI([], misnamed.tlsUrl)).rejects.toThrow("Can't contact LDAP server");
      process.env.LDAPTLS_REQCERT = 'never';
      expect(await whoAmI([], misnamed.tlsUrl)).toBe('anonymous');
    } finally {
      delete process.env.LDAPTLS_REQCERT;
      await misnamed.stop();
    }
  });

  it('counts the binds of a DN and all connections', async () => {
    const dn = await server.addUser({ ...ALICE, uid: 'counted' });
    const connections = await server.connectionCount();
    expect(await server.bindCount(dn)).toBe(0);
    await whoAmI(asUser('counted'));
    await expect(whoAmI(asUser('counted', 'wrong'))).rejects.toThrow('Invalid credentials');
    expect(await server.bindCount(dn)).toBe(2);
    expect(await server.connectionCount()).toBe(connections + 2);
  });

  it('does not answer while suspended, and answers when resumed', async () => {
    await server.suspend();
    const answer = whoAmI(asUser('alice'));
    expect(await staysSilent(answer)).toBe(true);
    await server.resume();
    expect(await answer).toBe(`dn:${server.dnOf('alice')}`);
  });

  it('keeps its users after a kill, and its process has ended after stop', async () => {
    await server.kill();
    await expect(whoAmI(asUser('alice'))).rejects.toThrow("Can't contact LDAP server");
    await server.restart();
    expect(await whoAmI(asUser('alice'))).toBe(`dn:${server.dnOf('alice')}`);
    const { pid } = server;
    await server.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});
