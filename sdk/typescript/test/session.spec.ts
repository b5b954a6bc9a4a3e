import { memoryStorage, type KeyValueStorage, type Locks, type PortalAuth } from '../dist/index.js';
import {
  changeWanted,
  codeAccepted,
  codeWanted,
  credentials,
  failure,
  fakeLocks,
  fresh,
  loggedIn,
  no,
  ok,
  settled,
  World,
} from './world';

const me = ok({ uid: 'u-1', login_name: 'alice' });

/** Makes `/user/me` accept only the newest access token. */
function guarded(world: World, current: () => string): void {
  world.on('/user/me', ({ bearer }) => (bearer === current() ? me : no('AUTH_401002')));
}

async function signedIn(world: World, locks: Locks | null = null): Promise<PortalAuth> {
  const tab = world.on('/login', loggedIn).tab(memoryStorage(), { locks });
  await tab.login(credentials);
  return tab;
}

describe('the session', () => {
  it('an expired access token is renewed once, and the call is repeated', async () => {
    const world = new World().on('/refresh', fresh('access-9', 'refresh-9'));
    guarded(world, () => 'access-9');
    const tab = await signedIn(world, fakeLocks());
    await tab.me();
    expect(world.asked.map(({ path, bearer }) => [path, bearer])).toEqual([
      ['/login', undefined],
      ['/user/me', 'access-1'],
      ['/refresh', 'refresh-1'],
      ['/user/me', 'access-9'],
    ]);
    await tab.me();
    expect(world.count('/refresh')).toBe(1);
  });

  it('many calls of one tab share one refresh', async () => {
    const world = new World().on('/refresh', fresh('access-9'));
    guarded(world, () => 'access-9');
    const tab = await signedIn(world);
    const calls = Promise.all(Array.from({ length: 20 }, () => tab.me()));
    await world.clock.pass(1);
    await calls;
    expect(world.count('/refresh')).toBe(1);
  });

  it('many calls of one tab also share a failed refresh, so that a busy service gets one request', async () => {
    const world = new World().on('/refresh', no('COMMON_503001', 2)).on('/user/me', no('AUTH_401002'));
    const tab = await signedIn(world);
    const calls = Promise.all(Array.from({ length: 20 }, () => failure(tab.me())));
    await world.clock.pass(5);
    expect((await calls).map(({ code }) => code)).toEqual(Array(20).fill('COMMON_503001'));
    expect(world.count('/refresh')).toBe(1);
  });

  it.each([
    ['with Web Locks', true],
    ['without Web Locks, with a lease in the storage', false],
  ])('many tabs share one refresh, %s', async (_case, hasLocks) => {
    let issued = 1;
    const world = new World().on('/refresh', async () => {
      await settled();
      return fresh(`access-${++issued}`);
    });
    guarded(world, () => `access-${issued}`);
    const locks = hasLocks ? fakeLocks() : null;
    await signedIn(world);
    issued = 2;
    const tabs = Array.from({ length: 8 }, () => world.tab(memoryStorage(), { locks }));
    const calls = Promise.all(tabs.map((tab) => tab.me()));
    await world.clock.pass(5);
    await calls;
    expect(world.count('/refresh')).toBe(1);
  });

  it('the lease of a tab that died delays the other tabs only until it expires', async () => {
    const world = new World().on('/refresh', fresh('access-9'));
    guarded(world, () => 'access-9');
    const tab = await signedIn(world);
    world.storage.setItem('portal-auth.refresh', JSON.stringify({ owner: 'gone', until: world.clock.now() + 15_000 }));
    const call = tab.me();
    await world.clock.pass(14);
    expect(world.count('/refresh')).toBe(0);
    await world.clock.pass(2);
    await call;
    expect(world.count('/refresh')).toBe(1);
  });

  it('a refresh that takes longer than the lease is still the only one, and no tab sends its spent refresh token', async () => {
    const world = new World();
    let spent = false;
    world.on('/refresh', async ({ bearer }) => {
      if (bearer !== 'refresh-1' || spent) return no('AUTH_401006');
      spent = true;
      await new Promise<void>((resolve) => void world.clock.after(40_000, resolve));
      return fresh('access-9', 'refresh-9');
    });
    guarded(world, () => 'access-9');
    await signedIn(world);
    const [tab, other] = [0, 1].map(() => world.tab(memoryStorage(), { timeoutMs: 60_000 })) as [
      PortalAuth,
      PortalAuth,
    ];
    const calls = Promise.all([tab.me(), other.me()]);
    await world.clock.pass(45);
    await calls;
    expect(world.count('/refresh')).toBe(1);
    expect(other.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  const refuse = (): never => {
    throw new Error('QuotaExceededError');
  };

  it('a full storage does not block the refresh, and the new tokens replace the stored ones in this tab', async () => {
    const world = new World().on('/refresh', fresh('access-9', 'refresh-9'));
    guarded(world, () => 'access-9');
    const tab = await signedIn(world);
    expect(tab.snapshot.tabOnly).toBe(false);
    (world.storage as { setItem: KeyValueStorage['setItem'] }).setItem = refuse;
    const call = tab.me();
    await world.clock.pass(30);
    await call;
    await tab.me();
    expect(world.count('/refresh')).toBe(1);
    expect(tab.snapshot.tabOnly).toBe(true);
    // After a reload the outdated pair must not come back.
    expect(world.tab().snapshot.step.kind).toBe('signed-out');
  });

  it.each([
    ['full', { ...memoryStorage(), setItem: refuse }],
    ['forbidden', { getItem: refuse, setItem: refuse, removeItem: refuse }],
  ])(
    'a storage that is %s does not prevent a login, which then lasts in this tab only and sets `tabOnly`',
    async (_case, storage) => {
      const world = new World().on('/login', codeWanted).on('/otp-verify', codeAccepted).on('/logout', ok({}));
      const tab = world.tab(storage, { storage });
      expect(tab.snapshot.tabOnly).toBe(false);
      await tab.login(credentials);
      expect(tab.snapshot.step.kind).toBe('code');
      await tab.verifyCode('123456');
      expect(tab.snapshot).toMatchObject({ step: { kind: 'signed-in' }, tabOnly: true });
      await tab.logout();
      expect(tab.snapshot).toMatchObject({ step: { kind: 'signed-out' }, tabOnly: false });
    },
  );

  it('a refused refresh token ends the session in every tab', async () => {
    const world = new World().on('/refresh', no('AUTH_401006')).on('/user/me', no('AUTH_401002'));
    const tab = await signedIn(world);
    const other = world.tab();
    const call = failure(tab.me());
    await world.clock.pass(1);
    expect(await call).toMatchObject({ code: 'AUTH_401006' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'session-ended' });
    expect(await failure(other.me())).toMatchObject({ rule: 'signed-out' });
  });

  it('a refresh that fails with 503 does not end the session', async () => {
    const world = new World().on('/refresh', no('COMMON_503001', 2)).on('/user/me', no('AUTH_401002'));
    const tab = await signedIn(world);
    const call = failure(tab.me());
    await world.clock.pass(1);
    expect(await call).toMatchObject({ code: 'COMMON_503001' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a refresh does not undo a logout in another tab that happens during the refresh', async () => {
    let answer: (() => void) | undefined;
    const world = new World()
      .on('/refresh', async () => {
        await new Promise<void>((resolve) => (answer = resolve));
        return fresh('access-9');
      })
      .on('/user/me', no('AUTH_401002'))
      .on('/logout', ok({ result: true }));
    const tab = await signedIn(world);
    const call = failure(tab.me());
    await world.clock.pass(1);
    await world.tab().logout();
    answer?.();
    expect(await call).toMatchObject({ rule: 'signed-out' });
    expect(world.storage.getItem('portal-auth.session')).toBeNull();
  });

  it('logout sends the refresh token, and signs out locally even without an answer', async () => {
    const world = new World().on('/logout', ok({ result: true }));
    const tab = await signedIn(world);
    await tab.logout();
    expect(world.asked.at(-1)).toMatchObject({ path: '/logout', bearer: 'refresh-1' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });

    const away = new World();
    const other = await signedIn(away);
    expect(await failure(other.logout())).toMatchObject({ name: 'ConnectionError' });
    expect(other.snapshot.step).toEqual({ kind: 'signed-out', notice: 'logout-unheard' });
    expect(away.storage.getItem('portal-auth.session')).toBeNull();
  });

  describe('a logout that the service does not confirm', () => {
    const unheard = async (): Promise<{ world: World; tab: PortalAuth; online: () => void }> => {
      const world = new World().on('/logout', no('COMMON_503001', 2));
      const listeners = new Map<string, (event: object) => void>();
      const target = globalThis as unknown as Record<string, unknown>;
      target.addEventListener = (type: string, listener: (event: object) => void) => listeners.set(type, listener);
      try {
        const tab = await signedIn(world);
        await failure(tab.logout());
        world.on('/logout', ok({ result: true }));
        return { world, tab, online: () => listeners.get('online')?.({}) };
      } finally {
        delete target.addEventListener;
      }
    };

    it('is sent again when the browser is online again, and the notice says that the session has ended', async () => {
      const { world, tab, online } = await unheard();
      expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'logout-unheard' });
      online();
      await settled();
      expect(world.asked.slice(-2)).toMatchObject([
        { path: '/logout', bearer: 'refresh-1' },
        { path: '/logout', bearer: 'refresh-1' },
      ]);
      expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'logout-heard' });
      online();
      await settled();
      expect(world.count('/logout')).toBe(2);
    });

    it('is sent again when a page opens, and its token is then removed from the storage', async () => {
      const { world, tab } = await unheard();
      tab.dispose();
      world.tab();
      await settled();
      expect(world.count('/logout')).toBe(2);
      expect(world.storage.getItem('portal-auth.sign-outs')).toBeNull();
    });

    it('is sent again every 30 s, also for a user who has logged in again', async () => {
      const { world, tab } = await unheard();
      world.on('/logout', no('COMMON_503001', 2), no('AUTH_401004'));
      await tab.login(credentials);
      await world.clock.pass(30);
      expect(world.count('/logout')).toBe(2);
      await world.clock.pass(30);
      expect(world.asked.filter(({ path }) => path === '/logout').map(({ bearer }) => bearer)).toEqual(
        Array(3).fill('refresh-1'),
      );
      await world.clock.pass(300);
      expect(world.count('/logout')).toBe(3);
      expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
    });

    it('survives a password change, because its session can belong to another user', async () => {
      const { world, tab } = await unheard();
      world.on('/user/change-pwd-by-req', ok({ result: true }));
      await tab.changePassword('r-1', 'Correct-Horse-8', 'Correct-Horse-8');
      expect(world.storage.getItem('portal-auth.sign-outs')).toContain('refresh-1');
    });
  });

  it('a login or logout in another tab changes the snapshot of this tab at once', async () => {
    const listeners = new Set<(event: { key: string | null }) => void>();
    const target = globalThis as unknown as Record<string, unknown>;
    target.addEventListener = (_type: string, listener: (event: { key: string | null }) => void) =>
      listeners.add(listener);
    try {
      const world = new World().on('/logout', ok({ result: true }));
      const idle = world.tab();
      const tab = await signedIn(world);
      listeners.forEach((listener) => listener({ key: 'portal-auth.session' }));
      expect(idle.snapshot.step.kind).toBe('signed-in');
      await tab.logout();
      listeners.forEach((listener) => listener({ key: null }));
      expect(idle.snapshot.step.kind).toBe('signed-out');
    } finally {
      delete target.addEventListener;
    }
  });

  it('a forced password change opens no session, and backToLogin abandons it', async () => {
    const world = new World().on('/login', changeWanted);
    const tab = world.tab();
    expect(await tab.login(credentials)).toEqual({ kind: 'password-change', uid: 'r-1' });
    expect(world.storage.getItem('portal-auth.session')).toBeNull();
    tab.backToLogin();
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
  });

  it('each request uses the current language of the page', async () => {
    const world = new World().on('/forget-password', no('AUTH_404002')).on('/login', loggedIn);
    const tab = world.tab(memoryStorage(), { language: 'zh-CN' });
    await failure(tab.forgotPassword('alice@example.com'));
    expect(world.asked[0]).toMatchObject({ language: 'zh-CN', body: { lang: 'zh-CN' } });
    tab.language = 'en';
    await tab.login(credentials);
    expect(world.asked[1]!.language).toBe('en');
  });

  it('an answer that does not come from the service is a ConnectionError', async () => {
    const world = new World().on('/login', { status: 502, body: 'bad gateway' });
    expect(await failure(world.tab().login(credentials))).toMatchObject({ name: 'ConnectionError' });
  });

  const page = {
    status: 200,
    body: '<title>Sign in to this network</title>',
    headers: { 'content-type': 'text/html' },
  };

  it.each([
    ['a page', page],
    ['an object without data', { status: 200, body: {} }],
    ['null', { status: 200, body: null }],
    ['a text', { status: 200, body: 'ok' }],
    ['nothing', { status: 200, body: {}, headers: { 'content-length': '0' } }],
  ])(
    '%s with the status 200 did not come from the service: no step, no cache, and no password is changed',
    async (_, reply) => {
      const world = new World().on('/login', reply).on('/capabilities', reply, ok({ mfa: 'never' }));
      world.on('/user/change-pwd-by-req', reply);
      const tab = world.tab();
      for (const call of [
        () => tab.login(credentials),
        () => tab.changePassword('r-1', 'Correct-Horse-8', 'Correct-Horse-8'),
        () => tab.capabilities(),
      ]) {
        expect(await failure(call())).toMatchObject({ name: 'ConnectionError' });
        expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
      }
      expect(await tab.capabilities()).toEqual({ mfa: 'never' });
    },
  );

  it('a page with the status 200 is no challenge of the captcha either', async () => {
    const world = new World().on('/captcha/challenge', page);
    expect(await failure(world.tab().captchaChallenge())).toMatchObject({ name: 'ConnectionError' });
  });

  it('the page of a network with the status 200 confirms no sign-out', async () => {
    const world = new World().on('/logout', page, ok({ result: true }));
    const tab = await signedIn(world);
    expect(await failure(tab.logout())).toMatchObject({ name: 'ConnectionError' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'logout-unheard' });
    await world.clock.pass(30);
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'logout-heard' });
    expect(world.count('/logout')).toBe(2);
  });
});
