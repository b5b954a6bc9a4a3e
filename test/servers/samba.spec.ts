import { Samba } from '../support/servers/samba';
import { runCommand } from '../support/servers/run-command';

const PASSWORD = 'wonder-Land-1';

describe('a Samba domain controller of the tests', () => {
  let server: Samba;

  beforeAll(async () => {
    server = await Samba.start();
  });

  afterAll(() => server?.stop());

  /** Binds, and returns the display name of the entry or the message of the refusal. */
  async function bind(who: string, password = PASSWORD, { url = server.tlsUrl, more = [] as string[] } = {}) {
    const options = ['-x', '-H', url, '-o', `TLS_CACERT=${server.caFile}`, '-D', who, '-w', password, ...more];
    return runCommand('ldapsearch', [...options, '-LLL', '-b', '', '-s', 'base', 'dnsHostName']).then(
      () => 'bound',
      (error: Error) => /(?<=data )\w+|BindSimple: .*|Can't contact/.exec(error.message)?.[0] ?? error.message,
    );
  }

  const find = (filter: string, ...attributes: string[]): Promise<string> =>
    runCommand('ldapsearch', [
      ...['-x', '-H', server.tlsUrl, '-o', `TLS_CACERT=${server.caFile}`, '-o', 'ldif_wrap=no', '-LLL'],
      ...['-D', server.serviceDn, '-w', server.servicePassword, '-b', server.baseDn, filter, ...attributes],
    ]);

  it('refuses a simple bind without TLS, and accepts one with StartTLS and with ldaps', async () => {
    const dn = await server.addUser({ name: 'alice', password: PASSWORD });
    expect(await bind(dn, PASSWORD, { url: server.url })).toBe('BindSimple: Transport encryption required.');
    expect(await bind(dn, PASSWORD, { url: server.url, more: ['-ZZ'] })).toBe('bound');
    expect(await bind(dn)).toBe('bound');
    expect(await bind(dn, 'wrong')).toBe('52e');
    expect(await server.wrongPasswords(dn)).toBe(1);
  });

  it('reports the state of an account by a sub-code', async () => {
    const states = {
      530: (dn: string) => server.closeHours(dn),
      532: (dn: string) => server.expirePassword(dn),
      533: (dn: string) => server.disable(dn),
      701: (dn: string) => server.expireAccount(dn),
      773: (dn: string) => server.demandNewPassword(dn),
      775: (dn: string) => server.lock(dn),
    };
    for (const [code, put] of Object.entries(states)) {
      const dn = await server.addUser({ name: `state-${code}`, password: PASSWORD });
      await put(dn);
      expect({ code, answer: await bind(dn) }).toEqual({ code, answer: code });
    }
  });

  it('renames, moves, disables and deletes an entry', async () => {
    let dn = await server.addUser({ name: 'bob', cn: 'Bob, the "first"', password: PASSWORD });
    dn = await server.rename(dn, 'Robert');
    dn = await server.move(dn, server.elsewhereDn);
    expect(await bind(dn)).toBe('bound');
    await server.disable(dn);
    expect(await bind(dn)).toBe('533');
    await server.enable(dn);
    expect(await bind(dn)).toBe('bound');
    await server.remove(dn);
    expect(await find('(sAMAccountName=bob)')).not.toContain('bob');
  });

  it('finds the members of a nested group by the in-chain rule, and shows the service what it needs', async () => {
    const dn = await server.addUser({ name: 'nested', password: PASSWORD });
    const inner = await server.addGroup('Inner', [dn]);
    const outer = await server.addGroup('Outer', [inner]);
    const inChain = `(&(sAMAccountName=nested)(memberOf:1.2.840.113556.1.4.1941:=${outer}))`;
    expect(await find(inChain, 'dn')).toContain(`dn: ${dn}`);
    const seen = await find(
      '(sAMAccountName=nested)',
      'objectGUID',
      'userAccountControl',
      'accountExpires',
      'memberOf',
    );
    for (const line of ['objectGUID:: ', 'userAccountControl: 512', 'accountExpires: ', `memberOf: ${inner}`]) {
      expect(seen).toContain(line);
    }
    await server.removeMember(outer, inner);
    expect(await find(inChain, 'dn')).not.toContain(dn);
    await server.addMember(outer, inner);
    expect(await find(inChain, 'dn')).toContain(dn);
  });

  it('has a twin with the same entries at another address, which answers after it was killed', async () => {
    const dn = await server.addUser({ name: 'carol', password: PASSWORD });
    const twin = await server.twin();
    try {
      await server.kill();
      expect(await bind(dn)).toBe("Can't contact");
      expect(await bind(dn, PASSWORD, { url: twin.tlsUrl })).toBe('bound');
      await server.restart();
      expect(await bind(dn)).toBe('bound');
    } finally {
      await twin.stop();
    }
    expect(() => process.kill(twin.pid, 0)).toThrow('ESRCH');
  });
});
