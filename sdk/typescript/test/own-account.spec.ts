import { type ErrorCode, memoryStorage, type PortalAuth } from '../dist/index.js';
import { credentials, failure, fakeLocks, fresh, listening, loggedIn, no, ok, settled, World } from './world';

const time = '2026-01-05T09:00:00.000Z';

async function signedIn(world: World, storage = world.storage, tabStorage = memoryStorage()): Promise<PortalAuth> {
  const tab = world.on('/login', loggedIn).tab(tabStorage, { storage, locks: fakeLocks() });
  await tab.login(credentials);
  return tab;
}

describe('the own account', () => {
  it('sessions() lists all sessions with dates', async () => {
    const session = { sid: 's-1', created_at: time, last_used_at: time, ip: null, user_agent: null, amr: ['pwd'] };
    const world = new World().on('GET /user/sessions', ok({ sessions: [{ ...session, current: true }] }));
    const tab = await signedIn(world);
    expect(await tab.sessions()).toEqual([
      {
        sid: 's-1',
        createdAt: new Date(time),
        lastUsedAt: new Date(time),
        ip: null,
        userAgent: null,
        amr: ['pwd'],
        current: true,
      },
    ]);
  });

  it('endSession() and endOtherSessions() end sessions of other browsers, and this one stays', async () => {
    const world = new World()
      .on('DELETE /user/sessions/s-2', ok({ result: true, ended: 1 }))
      .on('DELETE /user/sessions/s-3', no('USER_404001'))
      .on('DELETE /user/sessions', ok({ result: true, ended: 3 }));
    const tab = await signedIn(world);
    await tab.endSession('s-2');
    expect(await tab.endOtherSessions()).toBe(3);
    expect(await failure(tab.endSession('s-3'))).toMatchObject({ code: 'USER_404001', status: 404 });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('an id cannot lead to another path', async () => {
    const world = new World();
    const tab = await signedIn(world);
    await failure(tab.endSession('../devices/d-1?x=#y'));
    await failure(tab.endTrustedDevice('a/b'));
    const asked = world.asked.slice(-2).map(({ path, query }) => path + query);
    expect(asked).toEqual(['/user/sessions/..%2Fdevices%2Fd-1%3Fx%3D%23y', '/user/devices/a%2Fb']);
  });

  it('loginHistory() asks for as many logins as it is told to', async () => {
    const login = { created_at: time, ip: '203.0.113.7', user_agent: 'Firefox', provider: 'ldap', mfa: null };
    const world = new World().on('/user/login-history', ok({ logins: [{ ...login, outcome: 'success' }] }));
    const tab = await signedIn(world);
    expect(await tab.loginHistory()).toEqual([
      {
        createdAt: new Date(time),
        ip: '203.0.113.7',
        userAgent: 'Firefox',
        provider: 'ldap',
        mfa: null,
        outcome: 'success',
      },
    ]);
    await tab.loginHistory(5);
    expect(world.asked.slice(-2).map(({ query }) => query)).toEqual(['', '?limit=5']);
  });

  it('trustedDevices() lists the devices, and endTrustedDevice() ends one', async () => {
    const device = { id: 'd-1', created_at: time, last_used_at: time, ip: '203.0.113.7', user_agent: 'Firefox' };
    const world = new World()
      .on('GET /user/devices', ok({ devices: [device] }))
      .on('DELETE /user/devices/d-1', ok({ result: true }));
    const tab = await signedIn(world);
    expect(await tab.trustedDevices()).toEqual([
      {
        id: 'd-1',
        createdAt: new Date(time),
        lastUsedAt: new Date(time),
        ip: '203.0.113.7',
        userAgent: 'Firefox',
      },
    ]);
    await tab.endTrustedDevice('d-1');
    expect(world.asked.at(-1)).toMatchObject({ method: 'DELETE', path: '/user/devices/d-1', bearer: 'access-1' });
  });

  it('parallel calls with an expired token share one refresh, and each is repeated once', async () => {
    const world = new World().on('/refresh', async () => {
      await settled();
      return fresh('access-9', 'refresh-9');
    });
    const answers = {
      'GET /user/sessions': { sessions: [] },
      'DELETE /user/sessions': { result: true, ended: 0 },
      '/user/login-history': { logins: [] },
      '/user/devices': { devices: [] },
      'GET /recovery-codes': { left: 0, created_at: null },
      'POST /recovery-codes': { codes: [] },
    };
    for (const [path, data] of Object.entries(answers)) {
      world.on(path, ({ bearer }) => (bearer === 'access-9' ? ok(data) : no('AUTH_401002')));
    }
    const tab = await signedIn(world);
    await Promise.all([
      tab.sessions(),
      tab.endOtherSessions(),
      tab.loginHistory(),
      tab.trustedDevices(),
      tab.recoveryCodes(),
      tab.makeRecoveryCodes(),
    ]);
    expect(world.count('/refresh')).toBe(1);
    expect(world.asked).toHaveLength(1 + 6 + 1 + 6);
  });

  it('no method sends a request without a session', async () => {
    const world = new World();
    const tab = world.tab();
    const calls = [
      tab.sessions(),
      tab.endSession('s-1'),
      tab.endOtherSessions(),
      tab.loginHistory(),
      tab.recoveryCodes(),
      tab.makeRecoveryCodes(),
      tab.trustedDevices(),
      tab.endTrustedDevice('d-1'),
    ];
    for (const call of calls) expect(await failure(call)).toMatchObject({ rule: 'signed-out' });
    expect(world.asked).toEqual([]);
  });
});

describe('recovery codes', () => {
  const codes = ['abcde-fghjk', 'mnpqr-stvwx'];

  it('recoveryCodes() says how many are left and when they were made', async () => {
    const world = new World().on(
      'GET /recovery-codes',
      ok({ left: 9, created_at: time }),
      ok({ left: 0, created_at: null }),
    );
    const tab = await signedIn(world);
    expect(await tab.recoveryCodes()).toEqual({ left: 9, createdAt: new Date(time) });
    expect(await tab.recoveryCodes()).toEqual({ left: 0, createdAt: null });
  });

  it('new codes are returned, and are neither stored nor logged nor in the snapshot', async () => {
    const world = new World().on('POST /recovery-codes', ok({ codes }));
    const written: string[] = [];
    const logged = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) =>
      jest.spyOn(console, name).mockImplementation(() => undefined),
    );
    const tab = await signedIn(world, listening(world.storage, written), listening(memoryStorage(), written));
    expect(await tab.makeRecoveryCodes()).toEqual(codes);
    expect(logged.flatMap(({ mock }) => mock.calls)).toEqual([]);
    jest.restoreAllMocks();
    expect(written.join()).toContain('access-1');
    const kept = written.join() + JSON.stringify(tab.snapshot);
    expect(codes.filter((code) => kept.includes(code))).toEqual([]);
  });

  it('a double click makes one set, and a later call makes another', async () => {
    const world = new World().on('POST /recovery-codes', ok({ codes }), ok({ codes: [] }));
    const tab = await signedIn(world);
    expect(await Promise.all([tab.makeRecoveryCodes(), tab.makeRecoveryCodes()])).toEqual([codes, codes]);
    expect(world.count('/recovery-codes')).toBe(1);
    expect(await tab.makeRecoveryCodes()).toEqual([]);
  });

  it('a login that is too old is AUTH_403002, does not end the session, and can be tried again', async () => {
    const world = new World().on('POST /recovery-codes', no('AUTH_403002'), ok({ codes }));
    const tab = await signedIn(world);
    const code: ErrorCode = 'AUTH_403002';
    expect(await failure(tab.makeRecoveryCodes())).toMatchObject({ name: 'ServiceError', code, status: 403 });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
    expect(world.count('/refresh')).toBe(0);
    expect(await tab.makeRecoveryCodes()).toEqual(codes);
  });
});
