import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, TestService, tally } from '../support/app';
import { directoryPassword, freshName, givenPerson, ldapLogin, ldapSettings } from '../support/ldap';
import { OpenLdap } from '../support/servers/openldap';
import { TcpProxy } from '../support/servers/tcp-proxy';

/** Of the contract (decisions.md 7); what a test machine needs on top is the answer of one request. */
const contractMs = 5000;

describe('the directory is out (decisions.md 7, W20)', () => {
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

  /** A service of its own on the same directory, for one test. */
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

  /** An error that says which server and why, with no secret and no DN in any line. */
  function expectLogOfOperator(on: TestService, names: string[] = []) {
    const text = JSON.stringify(on.logLines);
    expect(on.logLines).toContainEqual(
      expect.objectContaining({ level: 50, context: 'directory', server: expect.stringMatching(/^ldaps?:\/\//) }),
    );
    for (const name of names) expect(text).toContain(name);
    for (const secret of [directoryPassword, directory.adminPassword, 'dc=example']) expect(text).not.toContain(secret);
  }

  it('refuses connections: LOGIN_503001 in time, nothing counted, and back as soon as it is back (T179)', async () => {
    await proxy.refuse();
    const { loginName } = await expectUnavailable(service, { names: ['ECONNREFUSED'] });
    await proxy.forward();
    expect((await ldapLogin(service, loginName)).status).toBe(200);
  });

  it('resets connections (T179)', async () => {
    proxy.reset();
    await expectUnavailable();
  });

  it.each([
    ['ldap://', {}],
    ['ldaps://', {}],
    ['StartTLS', { LDAP_START_TLS: 'true' }],
  ])('takes connections for %s and says nothing, and none of them stays behind (T179, T181)', async (way, settings) => {
    const hole = await silentServer();
    try {
      const url = way === 'ldaps://' ? hole.url.replace('ldap:', 'ldaps:') : hole.url;
      await withSettings({ LDAP_URL: url, ...settings }, async (other) => {
        await expectUnavailable(other, { names: ['no answer in time'] });
      });
      expect(hole.accepted()).toBe(2);
      await expectEventually(() => openTo(hole.port) === 0);
    } finally {
      hole.stop();
    }
  });

  it('answers each step more slowly than the whole may take', async () => {
    proxy.setLatency(900);
    await expectUnavailable();
  });

  it('answers slowly, but in time: the login goes through', async () => {
    proxy.setLatency(50);
    const { loginName } = await givenDirectoryUser();
    expect((await ldapLogin(service, loginName)).status).toBe(200);
  });

  it('speaks another protocol', async () => {
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

  it('the service account has another password now: an error for the operator, no failure of the user (T187)', async () => {
    await withSettings({ LDAP_BIND_PASSWORD: 'expired' }, async (other) => {
      await expectUnavailable(other, { names: ['service account refused'] });
      await expectUnavailable(other);
    });
  });

  it.each([
    ['a search base that does not exist', { LDAP_SEARCH_BASE: 'ou=nowhere,dc=example,dc=test' }, 'search base'],
    ['a search base that is no DN', { LDAP_SEARCH_BASE: 'nonsense' }, 'search or bind refused'],
    ['a filter that matches several', { LDAP_SEARCH_FILTER: '(|(uid={{username}})(uid=*))' }, 'more than one entry'],
    ['a host that does not exist', { LDAP_URL: 'ldap://directory.invalid' }, 'connection refused or lost'],
  ])('%s (T178)', async (_what, settings, reason) => {
    await givenDirectoryUser();
    await withSettings(settings, async (other) => {
      await expectUnavailable(other, { names: [reason] });
    });
  });

  it('100 logins hang: each is answered in time, local logins and their database go on beside them (T180)', async () => {
    const hole = await silentServer();
    try {
      await withSettings({ LDAP_URL: hole.url, DATABASE_POOL_SIZE: '2' }, async (other) => {
        const remote = await Promise.all(Array.from({ length: 10 }, () => givenDirectoryUser(other)));
        const local = await Promise.all(Array.from({ length: 5 }, () => other.givenUser(freshName('local'))));
        let hanging = 100;
        const began = performance.now();
        const stuck = Array.from({ length: 100 }, async (_, n): Promise<Answer> => {
          const answer = await ldapLogin(other, remote[n % remote.length]!.loginName);
          hanging--;
          return answer;
        });
        await expectEventually(() => hole.accepted() >= 40);
        for (let round = 0; round < 10; round++) {
          const answers = await Promise.all(local.map(({ loginName }) => other.login(loginName)));
          expect(tally(answers)).toEqual({ success: local.length });
        }
        // At most 3 for each user, two connections for each.
        expect(hole.open()).toBeLessThanOrEqual(2 * 3 * remote.length);
        // The local logins did not wait for the others: all of those are still there.
        expect(hanging).toBe(100);
        expect(tally(await Promise.all(stuck))).toEqual({ LOGIN_503001: 100 });
        expect(performance.now() - began).toBeLessThan(contractMs + 1000);
        expect(await other.count('users', 'login_failed_count > 0')).toBe(0);
      });
      await expectEventually(() => openTo(hole.port) === 0);
    } finally {
      hole.stop();
    }
  });

  it('leaves no connection behind after many logins, right, wrong and refused (T181)', async () => {
    const { loginName } = await givenDirectoryUser();
    for (let round = 0; round < 100; round++) {
      expect((await ldapLogin(service, loginName)).status).toBe(200);
      if (round % 10 === 0) await ldapLogin(service, loginName, 'wrong');
    }
    await expectEventually(() => openTo(proxy.port) === 0);
  });

  describe('several servers', () => {
    it('a dead first one is left for the second, and does not cost every login its time-out', async () => {
      const hole = await silentServer();
      try {
        await withSettings({ LDAP_URL: `${hole.url},${directory.url}`, LDAP_TIMEOUT_MS: '500' }, async (other) => {
          const { loginName } = await givenDirectoryUser(other);
          for (let n = 0; n < 5; n++) expect((await ldapLogin(other, loginName)).status).toBe(200);
          expect((await ldapLogin(other, loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
          // Asked once, remembered for the others.
          expect(hole.accepted()).toBe(2);
          expect(other.logLines.filter(({ context }) => context === 'directory')).toHaveLength(1);
        });
      } finally {
        hole.stop();
      }
    });

    it('all dead: LOGIN_503001 within the same five seconds', async () => {
      const [one, two] = [await silentServer(), await silentServer()];
      try {
        await withSettings({ LDAP_URL: `${one.url},${two.url}` }, async (other) => {
          await expectUnavailable(other);
          expect(two.accepted()).toBe(2);
        });
      } finally {
        one.stop();
        two.stop();
      }
    });

    it('a wrong password is not tried at the second', async () => {
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

/** Connections of this process to a port. */
function openTo(port: number): number {
  const handles = (process as unknown as { _getActiveHandles(): { remotePort?: number }[] })._getActiveHandles();
  return handles.filter(({ remotePort }) => remotePort === port).length;
}

/** Takes connections and never says a word. */
async function silentServer(): Promise<{
  port: number;
  url: string;
  accepted: () => number;
  open: () => number;
  stop: () => void;
}> {
  let accepted = 0;
  const sockets = new Set<Socket>();
  // Half open, so that a connection which its client has only ended, and not closed, stays.
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
