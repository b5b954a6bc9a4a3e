import { connect, createServer, type Server } from 'node:net';
import { TestService } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { openTo } from '../support/silent-server';

describe('TLS to the directory', () => {
  let directory: OpenLdap;
  /** A directory whose certificate is from another authority and for another host name. */
  let impostor: OpenLdap;

  beforeAll(async () => {
    [directory, impostor] = await Promise.all([
      OpenLdap.start(),
      OpenLdap.start({ certificateNames: ['directory.example.test'] }),
    ]);
  });

  afterAll(async () => {
    await directory?.stop();
    await impostor?.stop();
  });

  /** Logs a user of `server` in with a wrong and with the right password. */
  async function loginAt(server: OpenLdap, settings: Record<string, string>) {
    const service = await TestService.start(ldapSettings(server, settings));
    try {
      const name = freshName();
      await givenPerson(server, name);
      const { uid } = await service.givenUser(name, { provider: 'ldap' });
      const wrong = await ldapLogin(service, name, 'wrong');
      const right = await ldapLogin(service, name);
      // The sockets of the library are below TLS: only the end of each login closes them (docs/spec/attacks.md#t181).
      const port = Number(new URL(settings.LDAP_URL!).port);
      await eventually(() => openTo(port) === 0, { what: 'no connection to the directory is left' });
      return {
        wrong: wrong.body.error_code as unknown,
        right: right.body.error_code ?? right.status,
        user: await service.userRow(uid),
        log: JSON.stringify(service.logLines),
      };
    } finally {
      await service.stop();
    }
  }

  describe.each([
    ['ldaps://', (server: OpenLdap) => ({ LDAP_URL: server.tlsUrl })],
    ['StartTLS', (server: OpenLdap) => ({ LDAP_URL: server.url, LDAP_START_TLS: 'true' })],
  ])('%s', (_way, settingsFor) => {
    it('a certificate of the configured authority for the address of the server is accepted', async () => {
      const seen = await loginAt(directory, { ...settingsFor(directory), LDAP_CA_FILE: directory.caFile });
      expect(seen).toMatchObject({ wrong: 'LOGIN_401001', right: 200 });
    });

    it('a certificate of the configured authority for the name of the server is accepted', async () => {
      const settings = settingsFor(directory);
      const byName = { ...settings, LDAP_URL: settings.LDAP_URL.replace('127.0.0.1', 'localhost') };
      const seen = await loginAt(directory, { ...byName, LDAP_CA_FILE: directory.caFile });
      expect(seen).toMatchObject({ wrong: 'LOGIN_401001', right: 200 });
    });

    it.each([
      ['an authority that is not configured', () => directory, () => ({})],
      ['another authority', () => directory, () => ({ LDAP_CA_FILE: impostor.caFile })],
      ['another host', () => impostor, () => ({ LDAP_CA_FILE: impostor.caFile })],
    ])('a certificate of %s is refused, and nothing is counted (T182)', async (_what, server, ca) => {
      const seen = await loginAt(server(), { ...settingsFor(server()), ...ca() });
      expect(seen).toMatchObject({ wrong: 'LOGIN_503001', right: 'LOGIN_503001', user: { login_failed_count: 0 } });
      expect(seen.log).toContain('certificate or TLS refused');
    });
  });

  describe('the bytes on the network with StartTLS', () => {
    it.each([
      ['right', () => directory, 200],
      ['wrong', () => impostor, 'LOGIN_503001'],
    ])('contain no password in clear when the certificate is %s', async (_what, server, expected) => {
      const tap = await wireTap(server().port);
      try {
        const seen = await loginAt(server(), {
          LDAP_URL: tap.url,
          LDAP_START_TLS: 'true',
          LDAP_CA_FILE: directory.caFile,
        });
        expect(seen.right).toBe(expected);
        const wire = tap.sent().toString('latin1');
        expect(wire).toContain('1.3.6.1.4.1.1466.20037');
        for (const secret of [directoryPassword, server().adminPassword, 'cn=admin'])
          expect(wire).not.toContain(secret);
      } finally {
        tap.server.close();
      }
    });

    it('contain no password when the directory refuses StartTLS', async () => {
      const plain = await wireTap(directory.port, { refuseStartTls: true });
      try {
        const seen = await loginAt(directory, { LDAP_URL: plain.url, LDAP_START_TLS: 'true' });
        expect(seen).toMatchObject({ wrong: 'LOGIN_503001', right: 'LOGIN_503001', user: { login_failed_count: 0 } });
        expect(seen.log).toContain('StartTLS refused');
        expect(plain.sent().toString('latin1')).not.toContain(directory.adminPassword);
      } finally {
        plain.server.close();
      }
    });
  });
});

/** Starts a proxy to a directory that records what is sent to the directory. */
async function wireTap(
  port: number,
  { refuseStartTls = false } = {},
): Promise<{ server: Server; url: string; sent: () => Buffer }> {
  const chunks: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      // protocolError
      if (refuseStartTls) client.write(Buffer.from('300c02010178070a010204000400', 'hex'));
      else upstream.write(chunk);
    });
    upstream.on('data', (chunk: Buffer) => client.write(chunk));
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    server,
    url: `ldap://127.0.0.1:${(server.address() as { port: number }).port}`,
    sent: () => Buffer.concat(chunks),
  };
}
