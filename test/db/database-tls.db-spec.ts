import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { checkStore } from '../../src/cli/doctor/store-checks';
import type { AppConfig } from '../../src/settings/app-config';
import { storeCode } from '../../src/platform/database/store-failure';
import { typeormOptions } from '../../src/platform/database/typeorm-options';
import { type Certificate, CertificateAuthority } from '../support/servers/certificates';
import { MariaDb } from '../support/servers/mariadb';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';

/** A MariaDB of its own, because the test replaces its certificate. SQLite uses no network. */
(__DATABASE__ === 'mariadb' ? describe : describe.skip)('TLS to the database', () => {
  let directory: string;
  let authority: CertificateAuthority;
  let stranger: CertificateAuthority;
  let mariadb: MariaDb;
  const file = (name: string) => join(directory, name);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'database-tls-'));
    authority = await CertificateAuthority.create(directory);
    stranger = await CertificateAuthority.create(directory, 'stranger');
    await install(await authority.issue());
    mariadb = await MariaDb.start([`--ssl-cert=${file('cert.pem')}`, `--ssl-key=${file('key.pem')}`]);
  });
  afterAll(async () => {
    await mariadb?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function install({ certFile, keyFile }: Certificate): Promise<void> {
    await copyFile(certFile, file('cert.pem'));
    await copyFile(keyFile, file('key.pem'));
  }
  async function serve(names: string[], by = authority): Promise<void> {
    await install(await by.issue(names));
    await new MariaDbDatabases(mariadb.url).run('FLUSH SSL');
  }
  const address = (host: string, mode = 'VERIFY_IDENTITY', ca = authority.caFile) => {
    const url = Object.assign(new URL(mariadb.url), { hostname: host, pathname: '/mysql' });
    return `${url.href}?ssl-mode=${mode}&ssl-ca=${ca}`;
  };
  /** The cipher of a connection that was made, or the code of its failure. */
  async function connect(url: string): Promise<string> {
    const source = new DataSource(typeormOptions(url, 1));
    try {
      await source.initialize();
      const [row] = await source.query<{ Value: string }[]>("SHOW STATUS LIKE 'Ssl_cipher'");
      return row!.Value === '' ? 'plain' : 'encrypted';
    } catch (error) {
      return storeCode(error);
    } finally {
      if (source.isInitialized) await source.destroy();
    }
  }
  const doctorSays = async (url: string) => (await checkStore({ database: { url } } as AppConfig))[0].text;

  it('VERIFY_IDENTITY with an IP address accepts the certificate of that address', async () => {
    await serve(['127.0.0.1']);
    expect(await connect(address('127.0.0.1'))).toBe('encrypted');
    await serve(['database.test', '192.0.2.1', '127.0.0.1']);
    expect(await connect(address('127.0.0.1'))).toBe('encrypted');
  });

  it('VERIFY_IDENTITY with an IP address refuses a certificate for localhost or for another address', async () => {
    for (const names of [['localhost'], ['192.0.2.1', 'localhost'], ['database.test']]) {
      await serve(names);
      expect([names, await connect(address('127.0.0.1'))]).toEqual([names, 'HANDSHAKE_SSL_ERROR']);
      const theirs = names.map((name) => (isIP(name) === 0 ? `DNS:${name}` : `IP Address:${name}`)).join(', ');
      expect(await doctorSays(address('127.0.0.1'))).toBe(
        `cannot be reached (the certificate is for ${theirs}, and not for the host of DATABASE_URL)`,
      );
    }
  });

  it('VERIFY_IDENTITY with a host name accepts the certificate of that name only', async () => {
    await serve(['localhost']);
    expect(await connect(address('localhost'))).toBe('encrypted');
    await serve(['127.0.0.1', 'database.test']);
    expect(await connect(address('localhost'))).toBe('HANDSHAKE_SSL_ERROR');
    expect(await doctorSays(address('localhost'))).toContain(
      'the certificate is for IP Address:127.0.0.1, DNS:database.test, and not',
    );
  });

  it('doctor names why the certificate is refused, or that the server has none', async () => {
    await serve(['127.0.0.1'], stranger);
    for (const mode of ['VERIFY_CA', 'VERIFY_IDENTITY']) {
      expect(await doctorSays(address('127.0.0.1', mode))).toMatch(
        /^cannot be reached \([a-z -]*(certificate|issuer)[a-z -]*: set ssl-ca in DATABASE_URL to the authority of the server\)$/,
      );
    }
    // The server is the one that all tests share, which has no certificate.
    const plain = `${MariaDbDatabases.shared().url}/mysql?ssl-mode=REQUIRED`;
    expect(await doctorSays(plain)).toBe('cannot be reached (the server offers no TLS: see ssl-mode in DATABASE_URL)');
  });
});
