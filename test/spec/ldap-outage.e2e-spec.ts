import { createServer } from 'node:net';
import { avoidedMs } from '../../src/directory/ldap-limits';
import { TestService, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { eventually } from '../support/servers/eventually';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';
import { boundedAnswerMs } from '../support/settings';
import { openTo, silentServer } from '../support/silent-server';

jest.unmock('../../src/directory/ldap-limits');

/** Waits until no connection of this process to the port is left. */
const noneOpenTo = (port: number) =>
  eventually(() => openTo(port) === 0, { what: 'no connection to the directory is left' });

describe('an outage of the directory (W20)', () => {
  let directory: OpenLdap;
  let proxy: TcpProxy;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    proxy = await TcpProxy.start(directory.port);
    service = await TestService.start(ldapSettings(directory, { LDAP_URL: `ldap://127.0.0.1:${proxy.port}` }));
  });

  afterEach(() => proxy.forward());

  afterAll(async () => {
    await service?.stop();
    await proxy?.stop();
    await directory?.stop();
  });

  async function givenDirectoryUser(on = service) {
    const name = freshName();
    await givenPerson(directory, name);
    return on.givenUser(name, { provider: 'ldap' });
  }

  /** Runs `work` with another service on the same directory. */
  async function withSettings(settings: Record<string, string>, work: (other: TestService) => Promise<void>) {
    const other = await TestService.start(ldapSettings(directory, settings));
    try {
      await work(other);
    } finally {
      await other.stop();
    }
  }

  async function expectUnavailable(on: TestService = service, more: { names?: string[] } = {}) {
    const { uid, loginName } = await givenDirectoryUser(on);
    const began = performance.now();
    const answer = await ldapLogin(on, loginName);
    expect(answer).toMatchObject({ status: 503, body: { error_code: 'LOGIN_503001' } });
    expect(performance.now() - began).toBeLessThan(boundedAnswerMs);
    expect(answer.headers['retry-after']).toBeDefined();
    expect(await on.userRow(uid)).toMatchObject({ login_failed_count: 0, last_login_failed_time: null });
    expectLogOfOperator(on, more.names);
    return { uid, loginName };
  }

  /** Expects an error that names the server and the reason. No log line may contain a secret or a DN. */
  function expectLogOfOperator(on: TestService, names: string[] = []) {
    const text = JSON.stringify(on.logLines);
    expect(on.logLines).toContainEqual(
      expect.objectContaining({ level: 50, context: 'directory', server: expect.stringMatching(/^ldaps?:\/\//) }),
    );
    for (const name of names) expect(text).toContain(name);
    for (const secret of [directoryPassword, directory.adminPassword, 'dc=example']) expect(text).not.toContain(secret);
  }

  it('a refused connection gives LOGIN_503001 in time and counts no failure, and the next login after the outage succeeds (T179)', async () => {
    await proxy.refuse();
    const { loginName } = await expectUnavailable(service, { names: ['ECONNREFUSED'] });
    await proxy.forward();
    expect((await ldapLogin(service, loginName)).status).toBe(200);
  });

  it('a reset connection gives LOGIN_503001 (T179)', async () => {
    proxy.reset();
    await expectUnavailable();
  });

  it.each([
    ['ldap://', {}],
    ['ldaps://', {}],
    ['StartTLS', { LDAP_START_TLS: 'true' }],
  ])(
    'a server that accepts connections for %s and does not answer gives LOGIN_503001, and no connection is left (T179, T181)',
    async (way, settings) => {
      const silent = await silentServer();
      try {
        const url = way === 'ldaps://' ? silent.url.replace('ldap:', 'ldaps:') : silent.url;
        await withSettings({ LDAP_URL: url, ...settings }, async (other) => {
          await expectUnavailable(other, { names: ['no answer in time'] });
        });
        expect(silent.accepted()).toBe(1);
        await noneOpenTo(silent.port);
      } finally {
        silent.stop();
      }
    },
  );

  it('a server whose answers together take longer than the time limit of a login gives LOGIN_503001', async () => {
    proxy.setLatency(900);
    await expectUnavailable();
  });

  it('a login at a slow server succeeds when the answers arrive within the time limit', async () => {
    proxy.setLatency(50);
    const { loginName } = await givenDirectoryUser();
    expect((await ldapLogin(service, loginName)).status).toBe(200);
  });

  it('a server of another protocol gives LOGIN_503001', async () => {
    const http = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    await new Promise<void>((done) => http.listen(0, '127.0.0.1', done));
    try {
      const { port } = http.address() as { port: number };
      await withSettings({ LDAP_URL: `ldap://127.0.0.1:${port}` }, async (other) => {
        await expectUnavailable(other);
      });
    } finally {
      http.close();
    }
  });

  it('a refused service account is an error in the log and no failure of the user (T187)', async () => {
    await withSettings({ LDAP_BIND_PASSWORD: 'expired' }, async (other) => {
      await expectUnavailable(other, { names: ['service account refused'] });
      await expectUnavailable(other);
    });
  });

  it.each([
    ['a search base that does not exist', { LDAP_SEARCH_BASE: 'ou=nowhere,dc=example,dc=test' }, 'search base'],
    ['a search base that is not a DN', { LDAP_SEARCH_BASE: 'nonsense' }, 'search or bind refused'],
    // A DNS label has at most 63 characters, so this name fails without a query to a name server.
    ['a host that does not exist', { LDAP_URL: `ldap://${'a'.repeat(64)}.invalid` }, 'connection refused or lost'],
  ])('%s gives LOGIN_503001 (T178)', async (_what, settings, reason) => {
    await givenDirectoryUser();
    await withSettings(settings, async (other) => {
      await expectUnavailable(other, { names: [reason] });
    });
  });

  it('100 logins at a silent directory are answered in time, count nothing, and leave no connection (T180)', async () => {
    const silent = await silentServer();
    try {
      await withSettings({ LDAP_URL: silent.url }, async (other) => {
        const remote = await Promise.all(Array.from({ length: 10 }, () => givenDirectoryUser(other)));
        const began = performance.now();
        const logins = Array.from({ length: 100 }, (_, n) => ldapLogin(other, remote[n % remote.length]!.loginName));
        expect(tally(await Promise.all(logins))).toEqual({ LOGIN_503001: 100 });
        // Three logins of each user at a time: ten users would wait for four time-outs of 3 s, one after the other.
        expect(performance.now() - began).toBeLessThan(boundedAnswerMs);
        expect(await other.count('users', 'login_failed_count > 0')).toBe(0);
      });
      await noneOpenTo(silent.port);
    } finally {
      silent.stop();
    }
  });

  it('no connection is left after many logins with right and wrong passwords (T181)', async () => {
    const { loginName } = await givenDirectoryUser();
    for (let round = 0; round < 100; round++) {
      expect((await ldapLogin(service, loginName)).status).toBe(200);
      if (round % 10 === 0) await ldapLogin(service, loginName, 'wrong');
    }
    await noneOpenTo(proxy.port);
  });

  describe('several servers', () => {
    it('when all servers are silent, they share the time limit of one login: the answer is LOGIN_503001', async () => {
      const servers = [await silentServer(), await silentServer(), await silentServer(), await silentServer()];
      try {
        await withSettings({ LDAP_URL: servers.map(({ url }) => url).join() }, async (other) => {
          await expectUnavailable(other);
          // The first one takes 3 s of the limit, and the second one the rest. A busy machine may leave no rest.
          const [first, second, ...others] = servers.map(({ accepted }) => accepted());
          expect([first, others]).toEqual([1, [0, 0]]);
          expect(second).toBeLessThanOrEqual(1);
        });
      } finally {
        servers.forEach(({ stop }) => stop());
      }
    });

    it('a lasting outage of one of them is logged at once and then every hour, however many logins notice it', async () => {
      const first = await TcpProxy.start(directory.port);
      // The time during which a server is avoided counts on the monotonic clock.
      const monotonic = performance.now.bind(performance);
      let ahead = 0;
      jest.spyOn(performance, 'now').mockImplementation(() => monotonic() + ahead);
      try {
        await first.refuse();
        const settings = { LDAP_URL: `ldap://127.0.0.1:${first.port},${directory.url}` };
        await withSettings(settings, async (other) => {
          const { loginName } = await givenDirectoryUser(other);
          const lines = async (seconds: number) => {
            for (let n = 0; n < 3; n++) {
              ahead += avoidedMs + 1;
              expect((await ldapLogin(other, loginName)).status).toBe(200);
            }
            other.clock.advanceSeconds(seconds);
            return other.logLines.filter(({ context, level }) => context === 'directory' && level === 50).length;
          };
          expect(await lines(3599)).toBe(1);
          expect(await lines(1)).toBe(1);
          expect(await lines(3600)).toBe(2);
          expect(await lines(0)).toBe(3);
          await first.forward();
          expect(await lines(0)).toBe(3);
          await first.refuse();
          expect(await lines(0)).toBe(4);
        });
      } finally {
        jest.restoreAllMocks();
        await first.stop();
      }
    });

    it('a wrong password is not tried at the second server', async () => {
      const second = await TcpProxy.start(directory.port);
      try {
        await withSettings({ LDAP_URL: `${directory.url},ldap://127.0.0.1:${second.port}` }, async (other) => {
          const { loginName } = await givenDirectoryUser(other);
          expect((await ldapLogin(other, loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
          expect(second.connectionCount).toBe(0);
        });
      } finally {
        await second.stop();
      }
    });
  });
});
