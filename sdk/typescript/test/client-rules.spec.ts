import { memoryStorage } from '../dist/index.js';
import {
  changeWanted,
  codeAccepted,
  codeWanted,
  credentials,
  failure,
  loggedIn,
  no,
  ok,
  totpWanted,
  World,
} from './world';

const change = { uid: 'r-1', user_id: 'u-1', type: 2, status: 0, expired: '', created_at: '' };

describe('the limits of the client (docs/spec/service.md#8)', () => {
  it('for 10 s after a refused code, no other code is sent', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', no('MFA_401001'), codeAccepted);
    const tab = world.tab();
    await tab.login(credentials);
    expect(await failure(tab.verifyCode('000000'))).toMatchObject({ code: 'MFA_401001' });
    expect(tab.snapshot).toMatchObject({ step: { attemptsLeft: 4 }, waiting: { code: 10 } });
    await world.clock.pass(9.999);
    expect(tab.snapshot.waiting.code).toBe(1);
    expect(await failure(tab.verifyCode('123456'))).toMatchObject({ name: 'RuleError', rule: 'wait', seconds: 1 });
    expect(world.count('/otp-verify')).toBe(1);
    await world.clock.pass(0.001);
    await tab.verifyCode('123456');
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it.each([
    ['email', codeWanted, 'MFA_401001'],
    ['totp', totpWanted, 'AUTH_MFA_401001'],
  ])('the fifth refused %s code ends the pending login', async (_type, pending, code) => {
    const world = new World().on('/login', pending).on('/otp-verify', no(code));
    const tab = world.tab();
    await tab.login(credentials);
    for (const left of [4, 3, 2, 1]) {
      await failure(tab.verifyCode('000000'));
      expect(tab.snapshot.step).toMatchObject({ kind: 'code', attemptsLeft: left });
      await world.clock.pass(10);
    }
    await failure(tab.verifyCode('000000'));
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'too-many-codes' });
    expect(await failure(tab.verifyCode('000000'))).toMatchObject({ rule: 'no-pending-login' });
    expect(world.count('/otp-verify')).toBe(5);
  });

  it('a reload resets neither the wait nor the count of refused codes', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', no('MFA_401001'));
    const tabStorage = memoryStorage();
    const before = world.tab(tabStorage);
    await before.login(credentials);
    await failure(before.verifyCode('000000'));
    before.dispose();
    await world.clock.pass(3);
    const after = world.tab(tabStorage);
    expect(after.snapshot).toMatchObject({
      step: { kind: 'code', type: 'email', loginName: 'alice', attemptsLeft: 4 },
      waiting: { code: 7, resend: 57 },
    });
  });

  it('a code that the service could not check (503) does not count as refused', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', no('COMMON_503001', 2));
    const tab = world.tab();
    await tab.login(credentials);
    expect(await failure(tab.verifyCode('000000'))).toMatchObject({ code: 'COMMON_503001', retryAfter: 2 });
    expect(tab.snapshot).toMatchObject({ step: { attemptsLeft: 5 }, waiting: { code: 0 } });
  });

  it('a new code is requested at the earliest 60 s after the last mail, also after a reload or a new login', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-resend', ok({ result: true, retry_after: 60 }));
    const tabStorage = memoryStorage();
    const before = world.tab(tabStorage);
    await before.login(credentials);
    expect(before.snapshot.waiting.resend).toBe(60);
    await world.clock.pass(20);
    before.dispose();
    const after = world.tab(tabStorage);
    expect(after.snapshot.waiting.resend).toBe(40);
    expect(await failure(after.resendCode())).toMatchObject({ rule: 'wait', seconds: 40 });
    after.backToLogin();
    await after.login(credentials);
    expect(after.snapshot.waiting.resend).toBe(60);
    await world.clock.pass(60);
    await after.resendCode();
    expect(world.asked.at(-1)).toMatchObject({ body: { uid: 'u-1', type: 'email', mfa_token: 'pending-1' } });
    expect(after.snapshot.waiting.resend).toBe(60);
    expect(world.count('/otp-resend')).toBe(1);
  });

  it('a longer cooldown of the service replaces the 60 s of the client', async () => {
    const world = new World()
      .on('/login', codeWanted)
      .on('/otp-resend', no('MFA_429001', 90), ok({ result: true, retry_after: 120 }));
    const tab = world.tab();
    await tab.login(credentials);
    await world.clock.pass(60);
    await failure(tab.resendCode());
    expect(tab.snapshot.waiting.resend).toBe(90);
    await world.clock.pass(90);
    await tab.resendCode();
    expect(tab.snapshot.waiting.resend).toBe(120);
  });

  it('a resend for a pending login that has expired leads back to the login page', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-resend', no('MFA_401001'));
    const tab = world.tab();
    await tab.login(credentials);
    await world.clock.pass(60);
    await failure(tab.resendCode());
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'login-expired' });
  });

  it('a login within the cooldown resumes the first pending login and keeps its count of refused codes', async () => {
    const world = new World()
      .on('/login', codeWanted, no('LOGIN_401001'), no('MFA_429001', 42))
      .on('/otp-verify', no('MFA_401001'), codeAccepted);
    const tabStorage = memoryStorage();
    const before = world.tab(tabStorage);
    await before.login(credentials);
    await failure(before.verifyCode('000000'));
    before.backToLogin();
    expect(before.snapshot.step).toEqual({ kind: 'signed-out' });
    before.dispose();
    const tab = world.tab(tabStorage);
    await failure(tab.login({ ...credentials, password: 'wrong' }));
    expect(await tab.login(credentials)).toMatchObject({ kind: 'code', attemptsLeft: 4, resumed: true });
    expect(tab.snapshot.waiting.login).toBe(0);
    expect(tab.snapshot.waiting.resend).toBeGreaterThanOrEqual(42);
    await world.clock.pass(10);
    await tab.verifyCode('123456');
    expect(world.asked.at(-1)).toMatchObject({ path: '/otp-verify', body: { mfa_token: 'pending-1' } });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a pending login is not resumed for another user of the tab, and not after five refused codes', async () => {
    const world = new World()
      .on('/login', codeWanted, no('MFA_429001', 42), no('MFA_429001', 41), no('MFA_429001', 2))
      .on('/otp-verify', no('MFA_401001'));
    const tab = world.tab();
    await tab.login(credentials);
    tab.backToLogin();
    expect(await failure(tab.login({ ...credentials, username: 'bob' }))).toMatchObject({ code: 'MFA_429001' });
    expect(tab.snapshot.step.kind).toBe('signed-out');
    await tab.login(credentials);
    for (let i = 0; i < 5; i++) {
      await failure(tab.verifyCode('000000'));
      await world.clock.pass(10);
    }
    expect(await failure(tab.login(credentials))).toMatchObject({ code: 'MFA_429001' });
  });

  it('after MFA_429001 at the login, the same user must wait for retry_after, and another user can log in', async () => {
    const world = new World().on('/login', no('MFA_429001', 42), loggedIn);
    const tab = world.tab();
    await failure(tab.login(credentials));
    expect(tab.snapshot.waiting.login).toBe(42);
    expect(await failure(tab.login(credentials))).toMatchObject({ rule: 'wait', seconds: 42 });
    await tab.login({ ...credentials, username: 'bob' });
    expect(tab.snapshot.step.kind).toBe('signed-in');
  });

  it.each([
    ['accepted', ok(change)],
    ['refused', no('AUTH_404002')],
  ])('for 5 s after a %s forgotten-password form, no other form is sent, also after a reload', async (_case, reply) => {
    const world = new World().on('/forget-password', reply);
    const first = world.tab();
    await first.forgotPassword('alice@example.com').catch(() => undefined);
    const tab = world.tab();
    expect(tab.snapshot.waiting.forgot).toBe(5);
    await world.clock.pass(4.5);
    expect(await failure(tab.forgotPassword('alice@example.com'))).toMatchObject({ rule: 'wait', seconds: 1 });
    await world.clock.pass(0.5);
    await tab.forgotPassword('alice@example.com').catch(() => undefined);
    expect(world.count('/forget-password')).toBe(2);
  });

  it('a password change removes only the data of the SDK, and a refused change removes nothing', async () => {
    const world = new World()
      .on('/login', loggedIn, codeWanted, changeWanted)
      .on('/user/change-pwd-by-req', no('AUTH_400007'), ok({ result: true }));
    const tabStorage = memoryStorage();
    const tab = world.tab(tabStorage);
    await tab.login(credentials);
    await failure(tab.changePassword('r-1', 'short', 'short'));
    expect(tab.snapshot.step.kind).toBe('signed-in');
    world.storage.setItem('something of the portal', '1');
    tabStorage.setItem('something of the tab', '1');
    const own = ['session', 'waits', 'pending', 'set-aside', 'tab-waits'].map((name) => `portal-auth.${name}`);
    for (const storage of [world.storage, tabStorage]) for (const key of own) storage.setItem(key, '{}');
    await tab.changePassword('r-1', 'Correct-Horse-8', 'Correct-Horse-8');
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out', notice: 'password-changed' });
    for (const storage of [world.storage, tabStorage]) {
      expect(own.filter((key) => storage.getItem(key) !== null)).toEqual([]);
    }
    expect(world.storage.getItem('something of the portal')).toBe('1');
    expect(tabStorage.getItem('something of the tab')).toBe('1');
  });

  it('the request of a captcha challenge times out after 10 s', async () => {
    const world = new World();
    const hanging: typeof fetch = (request) =>
      new Promise((_resolve, reject) => {
        (request as Request).signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const tab = world.tab(memoryStorage(), { fetch: hanging });
    let failed: unknown;
    void failure(tab.captchaChallenge()).then((error) => (failed = error));
    await world.clock.pass(9.9);
    expect(failed).toBeUndefined();
    await world.clock.pass(0.1);
    expect(failed).toMatchObject({ name: 'ConnectionError' });
  });

  it('no wait grows when the clock is set back', async () => {
    const world = new World().on('/login', codeWanted).on('/otp-verify', no('MFA_401001'));
    const tab = world.tab();
    await tab.login(credentials);
    await failure(tab.verifyCode('000000'));
    world.clock.jump(-86_400);
    expect(await failure(tab.verifyCode('000000'))).toMatchObject({ seconds: 10 });
    expect(await failure(tab.resendCode())).toMatchObject({ seconds: 60 });
  });

  it('the snapshot changes each second of a wait, and not after its end', async () => {
    const world = new World().on('/forget-password', ok(change));
    const tab = world.tab();
    const seen: number[] = [];
    tab.subscribe(() => seen.push(tab.snapshot.waiting.forgot));
    await tab.forgotPassword('alice@example.com');
    await world.clock.pass(20);
    expect(seen).toEqual([5, 4, 3, 2, 1, 0]);
  });

  it('storage values of an unknown shape are ignored', async () => {
    const world = new World().on('/login', codeWanted);
    world.storage.setItem('portal-auth.session', '{"access":1}');
    world.storage.setItem('portal-auth.waits', '[1,');
    const tabStorage = memoryStorage();
    tabStorage.setItem('portal-auth.pending', '"x"');
    const tab = world.tab(tabStorage);
    expect(tab.snapshot.step).toEqual({ kind: 'signed-out' });
    await tab.login(credentials);
    expect(tab.snapshot.step.kind).toBe('code');
  });
});
