import { memoryStorage } from '../dist/index.js';
import {
  codeAccepted,
  codeWanted,
  credentials,
  deviceTrusted,
  failure,
  fakeLocks,
  loggedIn,
  loggedInWith,
  no,
  ok,
  settled,
  World,
} from './world';

const stored = (world: World) => JSON.parse(world.storage.getItem('portal-auth.session') ?? 'null') as unknown;
const left = ok({ redirect_to: 'https://login.example.com/authorize?state=s' });
const pair = (turn: number) => ({ access: `access-${turn}`, refresh: `refresh-${turn}` });

/** The `credentials` of the requests, by path. */
function watched(world: World) {
  const sent: [path: string, credentials: string][] = [];
  const fetch = ((...call: Parameters<typeof world.fetch>) => {
    const request = call[0] as Request;
    sent.push([new URL(request.url).pathname, request.credentials]);
    return world.fetch(...call);
  }) as typeof globalThis.fetch;
  return { sent, fetch };
}

describe('providers() and discover()', () => {
  it('tell the buttons of the login page, and none where the service is an older one', async () => {
    const acme = { id: 'acme', name: 'Acme' };
    const world = new World().on('/capabilities', ok({ identity_providers: [acme] }));
    expect(await world.tab().providers()).toEqual([acme]);
    expect(await new World().on('/capabilities', ok({})).tab().providers()).toEqual([]);
  });

  it('the name alone is sent, and the answer says where its owner signs in', async () => {
    const elsewhere = { provider: 'oidc', identity_provider: 'acme' };
    const world = new World().on('/login/discover', ok(elsewhere));
    expect(await world.tab().discover('ann@example.com')).toEqual(elsewhere);
    expect(world.asked[0]!.body).toEqual({ username: 'ann@example.com' });
  });
});

describe('signInWith()', () => {
  it('answers the address of the provider, and keeps the cookie of this browser; other requests send none', async () => {
    const world = new World().on('/login/external/acme', left).on('/capabilities', ok({ identity_providers: [] }));
    const { sent, fetch } = watched(world);
    const tab = world.tab(memoryStorage(), { fetch });
    expect(await tab.signInWith('acme', { returnTo: '/reports' })).toBe('https://login.example.com/authorize?state=s');
    await tab.providers();
    expect(world.asked[0]).toMatchObject({ body: { return_to: '/reports' }, authorization: null });
    expect(sent).toEqual([
      ['/login/external/acme', 'include'],
      ['/capabilities', 'omit'],
    ]);
  });

  it('a fresh sign-in is one of the user who is signed in', async () => {
    const world = new World().on('/login', loggedIn).on('/login/external/acme', left);
    const tab = world.tab();
    expect(await failure(tab.signInWith('acme', { fresh: true }))).toMatchObject({ rule: 'signed-out' });
    await tab.login(credentials);
    await tab.signInWith('acme', { fresh: true });
    expect(world.asked.at(-1)).toMatchObject({ body: { fresh: true }, bearer: 'access-1' });
  });
});

describe('completeExternal()', () => {
  it('signs in, and sends the code once although a page is drawn twice', async () => {
    const world = new World().on('/login/external', loggedIn);
    const tab = world.tab();
    const steps = await Promise.all([tab.completeExternal('code'), tab.completeExternal('code')]);
    expect(steps).toEqual([{ kind: 'signed-in' }, { kind: 'signed-in' }]);
    expect(world.count('/login/external')).toBe(1);
    expect(stored(world)).toEqual(pair(1));
  });

  it('ends the session that the browser had before, of whomever it was', async () => {
    const world = new World()
      .on('/login', loggedIn)
      .on('/login/external', loggedInWith('access-3', 'refresh-3'))
      .on('/logout', ok({ result: true }));
    const tab = world.tab();
    await tab.login(credentials);
    await tab.completeExternal('code');
    await settled();
    expect(world.asked.at(-1)).toMatchObject({ path: '/logout', bearer: 'refresh-1' });
    expect(stored(world)).toEqual(pair(3));
  });

  it('leads to the code where the service asks for one, and a trusted device needs none the next time', async () => {
    const world = new World()
      .on('/login/external', codeWanted, loggedInWith('access-3', 'refresh-3'))
      .on('/otp-verify', deviceTrusted('device-1'))
      .on('/logout', ok({ result: true }));
    const tab = world.tab();
    expect(await tab.completeExternal('one')).toMatchObject({ kind: 'code', loginName: 'alice' });
    await tab.verifyCode('123456', { trustDevice: true });
    await tab.logout();
    await tab.completeExternal('two');
    const logins = world.asked.filter(({ path }) => path === '/login/external');
    expect(logins.map(({ body }) => body)).toEqual([{ code: 'one' }, { code: 'two', device_token: 'device-1' }]);
  });

  it('goes on with the code that was mailed a moment ago', async () => {
    const world = new World().on('/login/external', codeWanted, no('MFA_429001', 30)).on('/otp-verify', codeAccepted);
    const tab = world.tab();
    await tab.completeExternal('one');
    tab.backToLogin();
    expect(await tab.completeExternal('two')).toMatchObject({ kind: 'code', resumed: true });
  });

  it('a refusal keeps nobody signed in who was not, and everybody who was', async () => {
    const world = new World().on('/login', loggedIn).on('/login/external', no('LOGIN_401013'));
    const tab = world.tab();
    expect(await failure(tab.completeExternal('used'))).toMatchObject({ code: 'LOGIN_401013' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
    await tab.login(credentials);
    expect(await failure(tab.completeExternal('used'))).toMatchObject({ code: 'LOGIN_401013' });
    expect(stored(world)).toEqual(pair(1));
  });
});

describe('reauthenticate({ external })', () => {
  it('confirms the session with the code of a fresh sign-in, in the browser of the cookie', async () => {
    const confirmed = {
      access_token: 'access-2',
      refresh_token: 'refresh-2',
      mfa_token: null,
      user_info: { uid: 'u-1' },
    };
    const world = new World().on('/login', loggedIn).on('/user/reauthenticate', ok(confirmed));
    const { sent, fetch } = watched(world);
    const tab = world.tab(memoryStorage(), { fetch, locks: fakeLocks() });
    await tab.login(credentials);
    expect(await tab.reauthenticate({ external: 'code' })).toBeUndefined();
    expect(world.asked.at(-1)).toMatchObject({ body: { external: 'code' }, bearer: 'access-1' });
    expect(sent.at(-1)).toEqual(['/user/reauthenticate', 'include']);
    expect(stored(world)).toEqual(pair(2));
  });
});
