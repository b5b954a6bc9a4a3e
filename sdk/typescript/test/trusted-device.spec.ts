import { memoryStorage } from '../dist/index.js';
import {
  changeWanted,
  codeAccepted,
  codeWanted,
  credentials,
  deviceTrusted,
  failure,
  loggedIn,
  no,
  ok,
  totpWanted,
  trustedIn,
  World,
} from './world';

/** The device tokens that the logins have sent, in their order. */
const sent = (world: World): unknown[] =>
  world.asked.filter(({ path }) => path === '/login').map(({ body }) => body.device_token);

async function trusted(): Promise<World> {
  const world = new World()
    .on('/login', codeWanted)
    .on('/otp-verify', deviceTrusted('device-1'))
    .on('/logout', ok({ result: true }));
  const tab = world.tab();
  await tab.login(credentials);
  await tab.verifyCode('123456', { trustDevice: true });
  await tab.logout();
  return world;
}

describe('a code of the second factor', () => {
  it('goes out without the new fields unless the page asks for them', async () => {
    const world = new World().on('/login', totpWanted).on('/otp-verify', codeAccepted);
    const tab = world.tab();
    await tab.login(credentials);
    await tab.verifyCode('123 456', { trustDevice: false });
    expect(world.asked.at(-1)!.body).toEqual({ uid: 'u-1', type: 'totp', code: '123456', mfa_token: 'pending-1' });
  });

  it.each([
    ['a mailed code', codeWanted],
    ['an authenticator', totpWanted],
  ])('a recovery code replaces %s', async (_case, pending) => {
    const world = new World().on('/login', pending).on('/otp-verify', codeAccepted);
    const tab = world.tab();
    await tab.login(credentials);
    await tab.verifyCode(' abcde-fghjk ', { type: 'recovery', trustDevice: true });
    expect(world.asked.at(-1)!.body).toEqual({
      uid: 'u-1',
      type: 'recovery',
      code: 'abcde-fghjk',
      mfa_token: 'pending-1',
      trust_device: true,
    });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a wrong recovery code starts the wait of 10 s, and counts with the other wrong codes', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', no('MFA_401001'), no('AUTH_MFA_401001'));
    const tab = world.tab();
    await tab.login(credentials);
    await failure(tab.verifyCode('000000'));
    expect(await failure(tab.verifyCode('abcde-fghjk', { type: 'recovery' }))).toMatchObject({ rule: 'wait' });
    for (const left of [3, 2, 1]) {
      await world.clock.pass(10);
      await failure(tab.verifyCode('abcde-fghjk', { type: 'recovery' }));
      expect(tab.snapshot).toMatchObject({ step: { attemptsLeft: left }, waiting: { code: 10 } });
    }
    await world.clock.pass(10);
    await failure(tab.verifyCode('abcde-fghjk', { type: 'recovery' }));
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'too-many-codes' });
    expect(world.count('/otp-verify')).toBe(5);
  });
});

describe('a trusted device', () => {
  it('is recognised at the next login of the same user, also after a logout and in another tab', async () => {
    const world = await trusted();
    world.on('/login', trustedIn('device-2'), trustedIn('device-3'));
    const tab = world.tab();
    expect(await tab.login(credentials)).toEqual({ kind: 'signed-in' });
    await tab.logout();
    await world.tab().login(credentials);
    expect(sent(world)).toEqual([undefined, 'device-1', 'device-2']);
  });

  it('each login replaces the token, and an answer without one keeps it', async () => {
    const world = await trusted();
    world.on('/login', no('LOGIN_401001'), loggedIn, codeWanted, changeWanted, trustedIn('device-2'), loggedIn);
    world.on('/otp-verify', codeAccepted);
    const tab = world.tab();
    await failure(tab.login(credentials));
    await tab.login(credentials);
    await tab.logout();
    await tab.login(credentials);
    await tab.verifyCode('123456');
    await tab.logout();
    for (let i = 0; i < 3; i++) await tab.login(credentials);
    expect(sent(world)).toEqual([undefined, ...Array<string>(5).fill('device-1'), 'device-2']);
  });

  it('a new trust replaces the token of the same user', async () => {
    const world = await trusted();
    world.on('/otp-verify', deviceTrusted('device-9'));
    const tab = world.tab();
    await tab.login(credentials);
    await tab.verifyCode('123456', { trustDevice: true });
    await tab.login(credentials);
    expect(sent(world)).toEqual([undefined, 'device-1', 'device-9']);
  });

  it('the token of one user is not sent for another, and the spelling of a name does not matter', async () => {
    const world = await trusted();
    const tab = world.tab();
    for (const username of ['bob', 'constructor', '__proto__', ' ALICE ', 'ａlice'])
      await tab.login({ ...credentials, username });
    expect(sent(world)).toEqual([undefined, undefined, undefined, undefined, 'device-1', 'device-1']);
  });

  it.each(['bob', 'constructor', '__proto__'])('two users of one browser each keep their token (%s)', async (other) => {
    const world = await trusted();
    world.on('/otp-verify', deviceTrusted('device-b'));
    const tab = world.tab();
    const theirs = { ...credentials, username: other };
    await tab.login(theirs);
    await tab.verifyCode('123456', { trustDevice: true });
    await tab.login(theirs);
    await tab.login(credentials);
    expect(sent(world)).toEqual([undefined, undefined, 'device-b', 'device-1']);
  });

  it('the trust belongs to the login that was verified, also after a reload of the tab', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', deviceTrusted('device-1'));
    const tabStorage = memoryStorage();
    const before = world.tab(tabStorage);
    await before.login(credentials);
    before.dispose();
    await world.tab(tabStorage).verifyCode('123456', { trustDevice: true });
    await world.tab().login(credentials);
    expect(sent(world)).toEqual([undefined, 'device-1']);
  });

  it('forgetThisDevice() makes the next login need a code, in every tab', async () => {
    const world = await trusted();
    world.tab().forgetThisDevice();
    await world.tab().login(credentials);
    expect(sent(world)).toEqual([undefined, undefined]);
    expect(world.storage.getItem('portal-auth.devices')).toBeNull();
  });

  it('a password reset removes the tokens with all other data of the SDK', async () => {
    const world = await trusted();
    world.on('/user/change-pwd-by-req', ok({ result: true }));
    await world.tab().changePassword('r-1', 'Correct-Horse-8', 'Correct-Horse-8');
    expect(world.storage.getItem('portal-auth.devices')).toBeNull();
  });

  it('a value of an unknown shape counts as no trust', async () => {
    const world = new World().on('/login', loggedIn);
    for (const value of ['{"alice":"device-1"}', '[["alice",1]]', '[["alice"]]', '[']) {
      world.storage.setItem('portal-auth.devices', value);
      await world.tab().login(credentials);
    }
    expect(sent(world)).toEqual(Array(4).fill(undefined));
  });
});
