import { type Locks, memoryStorage, type PortalAuth } from '../dist/index.js';
import { credentials, failure, fakeLocks, fresh, loggedIn, no, ok, settled, World } from './world';

const change = { currentPassword: 'Correct-Horse-7', password: 'Another-Horse-8' };
const pair = (turn: number) => ({ access_token: `access-${turn}`, refresh_token: `refresh-${turn}` });

/**
 * A service with one session. A change of the password takes a while, and revokes the former pair when it commits. Its
 * answer arrives later, so that other tabs meet the revoked pair before the new one is stored.
 */
function service(): World {
  let turn = 1;
  const world = new World().on('/login', loggedIn).on('/logout', ok({ result: true }));
  const refusal = (bearer: string | undefined) => (bearer === `access-${turn}` ? undefined : no('AUTH_401004'));
  world.on('/user/me', ({ bearer }) => refusal(bearer) ?? ok({ uid: 'u-1' }));
  world.on('/refresh', async ({ bearer }) => {
    await settled();
    return bearer === `refresh-${turn}` ? fresh(`access-${turn}`, `refresh-${turn}`) : no('AUTH_401006');
  });
  world.on('/user/change-password', async ({ bearer }) => {
    await settled();
    const refused = refusal(bearer);
    if (refused !== undefined) return refused;
    const answer = ok(pair(++turn));
    await settled();
    await settled();
    return answer;
  });
  return world;
}

async function signedIn(world: World, locks: Locks | null = fakeLocks()): Promise<PortalAuth> {
  const tab = world.tab(memoryStorage(), { locks });
  await tab.login(credentials);
  return tab;
}

describe('a change of the own password', () => {
  it('resolves when the new pair is stored, and the tab stays signed in with it', async () => {
    const world = service();
    const tab = await signedIn(world);
    await tab.changeOwnPassword(change);
    expect(world.asked.at(-1)).toMatchObject({
      bearer: 'access-1',
      body: {
        current_password: 'Correct-Horse-7',
        password: 'Another-Horse-8',
        confirm_password: 'Another-Horse-8',
      },
    });
    expect(JSON.parse(world.storage.getItem('portal-auth.session')!)).toEqual({
      access: 'access-2',
      refresh: 'refresh-2',
    });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
    await tab.me();
    expect(world.count('/refresh')).toBe(0);
  });

  it('sends a second entry of the page as it is, so that the service compares the two', async () => {
    const world = service().on('/user/change-password', no('AUTH_401010'));
    const tab = await signedIn(world);
    const refused = failure(tab.changeOwnPassword({ ...change, confirmation: 'Another-Horse-9' }));
    expect(await refused).toMatchObject({ code: 'AUTH_401010' });
    expect(world.asked.at(-1)!.body.confirm_password).toBe('Another-Horse-9');
  });

  it.each([
    ['with Web Locks', true],
    ['without Web Locks, with a lease in the storage', false],
  ])('other tabs of the browser stay signed in, also those that refresh during the change, %s', async (_case, has) => {
    const locks = has ? fakeLocks() : null;
    const world = service();
    const tab = await signedIn(world, locks);
    const others = Array.from({ length: 5 }, () => world.tab(memoryStorage(), { locks }));
    let done = false;
    const changing = tab.changeOwnPassword(change).finally(() => (done = true));
    const calls: Promise<unknown>[] = [];
    while (!done) {
      for (const other of [tab, ...others]) calls.push(other.me());
      await world.clock.pass(0.05);
    }
    await changing;
    await world.clock.pass(5);
    await Promise.all(calls);
    for (const one of [tab, ...others]) {
      await one.me();
      expect(one.snapshot.step).toEqual({ kind: 'signed-in' });
    }
    // Calls during the change were refused, and found the new pair in the storage without a refresh.
    expect(world.asked.filter(({ path, bearer }) => path === '/user/me' && bearer === 'access-1')).not.toEqual([]);
    expect(world.count('/refresh')).toBe(0);
  });

  it('an expired access token is renewed first, in the same turn of the lock', async () => {
    const world = service().on('/user/change-password', no('AUTH_401002'), ok(pair(3)));
    world.on('/refresh', fresh('access-2', 'refresh-2'));
    const tab = await signedIn(world);
    await tab.changeOwnPassword(change);
    expect(world.asked.slice(1).map(({ path, bearer }) => [path, bearer])).toEqual([
      ['/user/change-password', 'access-1'],
      ['/refresh', 'refresh-1'],
      ['/user/change-password', 'access-2'],
    ]);
    expect(world.storage.getItem('portal-auth.session')).toContain('access-3');
  });

  it.each(['LOGIN_401001', 'LOGIN_401004', 'AUTH_401009', 'AUTH_401010', 'AUTH_400007', 'AUTH_403001'])(
    '%s signs nobody out, and sends neither a refresh nor a second request',
    async (code) => {
      const world = service().on('/user/change-password', no(code));
      const tab = await signedIn(world);
      expect(await failure(tab.changeOwnPassword(change))).toMatchObject({ name: 'ServiceError', code });
      expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
      expect(world.storage.getItem('portal-auth.session')).toContain('access-1');
      expect(world.asked.slice(1).map(({ path }) => path)).toEqual(['/user/change-password']);
    },
  );

  it('a double click sends one request, because the second would count as a wrong current password', async () => {
    const world = service();
    const tab = await signedIn(world);
    await Promise.all([tab.changeOwnPassword(change), tab.changeOwnPassword(change)]);
    expect(world.count('/user/change-password')).toBe(1);
  });

  it('two changes of two tabs run one after the other, each with the pair of the one before', async () => {
    const locks = fakeLocks();
    const world = service();
    const tab = await signedIn(world, locks);
    const other = world.tab(memoryStorage(), { locks });
    await Promise.all([
      tab.changeOwnPassword(change),
      other.changeOwnPassword({ currentPassword: change.password, password: 'Third-Horse-9' }),
    ]);
    const sent = world.asked.filter(({ path }) => path === '/user/change-password');
    expect(sent.map(({ bearer }) => bearer)).toEqual(['access-1', 'access-2']);
    expect(world.storage.getItem('portal-auth.session')).toContain('access-3');
    expect(world.count('/refresh')).toBe(0);
  });

  it('a logout in another tab during the change is not undone, and the new session is signed out too', async () => {
    const world = service();
    const tab = await signedIn(world);
    let committed: (() => void) | undefined;
    world.on('/user/change-password', async () => {
      await new Promise<void>((resolve) => (committed = resolve));
      return ok(pair(2));
    });
    const changing = failure(tab.changeOwnPassword(change));
    await settled();
    await world.tab().logout();
    committed!();
    expect(await changing).toMatchObject({ rule: 'signed-out' });
    await settled();
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
    expect(world.asked.filter(({ path }) => path === '/logout').map(({ bearer }) => bearer)).toEqual([
      'refresh-1',
      'refresh-2',
    ]);
  });

  it('after a 429, no request is sent until the time that the service told is over', async () => {
    const world = service().on('/user/change-password', no('COMMON_429001', 7), ok(pair(2)));
    const tab = await signedIn(world);
    await failure(tab.changeOwnPassword(change));
    expect(tab.snapshot.waiting.password).toBe(7);
    expect(await failure(tab.changeOwnPassword(change))).toMatchObject({ rule: 'wait', seconds: 7 });
    expect(world.count('/user/change-password')).toBe(1);
    await world.clock.pass(7);
    await tab.changeOwnPassword(change);
    expect(tab.snapshot.waiting.password).toBe(0);
  });

  it('needs a session, and sends nothing without one', async () => {
    const world = service();
    expect(await failure(world.tab(undefined, { locks: fakeLocks() }).changeOwnPassword(change))).toMatchObject({
      rule: 'signed-out',
    });
    expect(world.asked).toEqual([]);
  });

  it('neither password is written to a storage', async () => {
    const world = service();
    const written: string[] = [];
    const noting = { ...world.storage, setItem: (key: string, value: string) => void written.push(key, value) };
    const tab = world.tab(noting, { storage: noting, locks: fakeLocks() });
    world.storage.setItem('portal-auth.session', '{"access":"access-1","refresh":"refresh-1"}');
    await tab.changeOwnPassword(change);
    expect(written.join()).toContain('access-2');
    expect(written.join()).not.toContain('Horse');
  });
});
