import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, TestService, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** docs/spec/decisions.md#7: an outage is answered within five seconds. */
const contractMs = 5000;

describe('an outage of the directory (W20)', () => {
  let directory: OpenLdap;
  let proxy: TcpProxy;
  let service: TestService;

  beforeAll(async () => {
    directory = await OpenLdap.start();
    proxy = await TcpProxy.start(directory.port);
    service = await TestService.start(ldapSettings(directory, { LDAP_URL: `ldap://127.0.0.1:${proxy.port}` }));
  }, 60_000);

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
    expect(performance.now() - began).toBeLessThan(contractMs);
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
        await expectEventually(() => openTo(silent.port) === 0);
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
    ['a host that does not exist', { LDAP_URL: 'ldap://directory.invalid' }, 'connection refused or lost'],
  ])('%s gives LOGIN_503001 (T178)', async (_what, settings, reason) => {
    await givenDirectoryUser();
    await withSettings(settings, async (other) => {
      await expectUnavailable(other, { names: [reason] });
    });
  });

  it('100 logins at a silent directory are answered in time, and do not delay local logins and the database (T180)', async () => {
    const silent = await silentServer();
    try {
      await withSettings({ LDAP_URL: silent.url, DATABASE_POOL_SIZE: '2' }, async (other) => {
        const remote = await Promise.all(Array.from({ length: 10 }, () => givenDirectoryUser(other)));
        const local = await Promise.all(Array.from({ length: 5 }, () => other.givenUser(freshName('local'))));
        let hanging = 100;
        const began = performance.now();
        const stuck = Array.from({ length: 100 }, async (_, n): Promise<Answer> => {
          const answer = await ldapLogin(other, remote[n % remote.length]!.loginName);
          hanging--;
          return answer;
        });
        await expectEventually(() => silent.accepted() >= 20);
        // The number of rounds before the first time-out depends on the machine. One round is enough: a local login
        // that waited for the directory would end after some of the directory logins.
        let [roundsBeside, slowestRoundMs, mostOpen] = [0, 0, silent.open()];
        for (let round = 0; round < 10 && hanging === 100; round++) {
          const roundBegan = performance.now();
          const answers = await Promise.all(local.map(({ loginName }) => other.login(loginName)));
          expect(tally(answers)).toEqual({ success: local.length });
          slowestRoundMs = Math.max(slowestRoundMs, performance.now() - roundBegan);
          if (hanging === 100) roundsBeside++;
          // After 4 s the first logins have ended, and other logins have opened further connections.
          if (performance.now() - began < 4000) mostOpen = Math.max(mostOpen, silent.open());
        }
        expect(roundsBeside).toBeGreaterThan(0);
        // At most three logins of each user, with one connection each.
        expect(mostOpen).toBeLessThanOrEqual(3 * remote.length);
        expect(tally(await Promise.all(stuck))).toEqual({ LOGIN_503001: 100 });
        // A round of local logins shows how much the load of the machine delays an answer.
        expect(performance.now() - began).toBeLessThan(contractMs + 1000 + 2 * slowestRoundMs);
        expect(await other.count('users', 'login_failed_count > 0')).toBe(0);
      });
      await expectEventually(() => openTo(silent.port) === 0);
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
    await expectEventually(() => openTo(proxy.port) === 0);
  });

  describe('several servers', () => {
    it('when the first server is silent, one login waits for its time-out and all succeed at the second', async () => {
      const silent = await silentServer();
      try {
        await withSettings({ LDAP_URL: `${silent.url},${directory.url}`, LDAP_TIMEOUT_MS: '500' }, async (other) => {
          const { loginName } = await givenDirectoryUser(other);
          for (let n = 0; n < 5; n++) expect((await ldapLogin(other, loginName)).status).toBe(200);
          expect((await ldapLogin(other, loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
          // Only the first login tried the silent server.
          expect(silent.accepted()).toBe(1);
          expect(other.logLines.filter(({ context }) => context === 'directory')).toHaveLength(1);
        });
      } finally {
        silent.stop();
      }
    });

    it('when all servers are silent, the answer is LOGIN_503001 within the same five seconds', async () => {
      const [one, two] = [await silentServer(), await silentServer()];
      try {
        await withSettings({ LDAP_URL: `${one.url},${two.url}` }, async (other) => {
          await expectUnavailable(other);
          expect(two.accepted()).toBe(1);
        });
      } finally {
        one.stop();
        two.stop();
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

async function expectEventually(holds: () => boolean): Promise<void> {
  for (let n = 0; n < 400 && !holds(); n++) await pause(25);
  expect(holds()).toBe(true);
}

/** Returns the number of connections of this process to a port. */
function openTo(port: number): number {
  const handles = (process as unknown as { _getActiveHandles(): { remotePort?: number }[] })._getActiveHandles();
  return handles.filter(({ remotePort }) => remotePort === port).length;
}

/** Starts a server that accepts connections and never answers. */
async function silentServer(): Promise<{
  port: number;
  url: string;
  accepted: () => number;
  open: () => number;
  stop: () => void;
}> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  // `allowHalfOpen`, so that a connection is still counted when its client has ended it but not closed it.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return {
    port,
    url: `ldap://127.0.0.1:${port}`,
    accepted: () => accepted,
    open: () => sockets.size,
    stop: () => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}
