import { memoryStorage, type PortalAuth } from '../dist/index.js';
import { credentials, failure, fakeLocks, loggedIn, no, ok, settled, World } from './world';

const pair = (turn: number) => ({ access_token: `access-${turn}`, refresh_token: `refresh-${turn}` });
const confirmed = ok({ ...pair(2), mfa_required: false, mfa_token: null, user_info: { uid: 'u-1', email: null } });
const codeDue = ok({
  ...{ access_token: null, refresh_token: null, mfa_required: true, mfa_type: 'email', mfa_token: 'token' },
  user_info: { uid: 'u-1', email: 'a•••@example.com' },
});
const codes = ok({ codes: ['a'] });

async function signedIn(world: World): Promise<PortalAuth> {
  const tab = world.tab(memoryStorage(), { locks: fakeLocks() });
  await tab.login(credentials);
  return tab;
}

const stored = (world: World) => JSON.parse(world.storage.getItem('portal-auth.session')!) as unknown;

describe('withFreshLogin()', () => {
  const world = (...answers: ReturnType<typeof ok>[]) =>
    new World()
      .on('/login', loggedIn)
      .on('/recovery-codes', ...answers)
      .on('/user/reauthenticate', confirmed);

  it('runs the action, asks after AUTH_403002, and runs it once more with the new token', async () => {
    const one = world(no('AUTH_403002'), codes);
    const tab = await signedIn(one);
    const asked: unknown[] = [];
    tab.onFreshLogin(async (wanted) => {
      asked.push(wanted);
      return (await tab.reauthenticate({ password: 'Correct-Horse-7' })) === undefined;
    });
    expect(await tab.withFreshLogin(() => tab.makeRecoveryCodes())).toEqual(['a']);
    expect(asked).toEqual([{ secondFactor: false }]);
    expect(one.asked.slice(1).map(({ path, bearer }) => [path, bearer])).toEqual([
      ['/recovery-codes', 'access-1'],
      ['/user/reauthenticate', 'access-1'],
      ['/recovery-codes', 'access-2'],
    ]);
    expect(stored(one)).toEqual({ access: 'access-2', refresh: 'refresh-2' });
  });

  it('asks nobody when the action succeeds, or fails otherwise', async () => {
    const tab = await signedIn(world(codes, no('AUTH_401004'), no('AUTH_403001')));
    const ask = jest.fn(() => Promise.resolve(true));
    await tab.withFreshLogin(() => Promise.resolve(1), ask);
    const other = failure(tab.withFreshLogin(() => Promise.reject(new TypeError('other')), ask));
    expect(await other).toMatchObject({ name: 'TypeError' });
    expect(ask).not.toHaveBeenCalled();
  });

  it('a cancel rejects with the refusal of the action, and so does a page that has nothing to ask with', async () => {
    const tab = await signedIn(world(no('AUTH_403002')));
    const cancelled = failure(
      tab.withFreshLogin(
        () => tab.makeRecoveryCodes(),
        () => Promise.resolve(false),
      ),
    );
    expect(await cancelled).toMatchObject({ code: 'AUTH_403002' });
    expect(await failure(tab.withFreshLogin(() => tab.makeRecoveryCodes()))).toMatchObject({ code: 'AUTH_403002' });
    const stop = tab.onFreshLogin(() => Promise.resolve(true));
    stop();
    expect(await failure(tab.withFreshLogin(() => tab.makeRecoveryCodes()))).toMatchObject({ code: 'AUTH_403002' });
  });

  it('two actions at once ask once, and both run again', async () => {
    const tab = await signedIn(world(no('AUTH_403002')));
    let young = false;
    const action = () => (young ? Promise.resolve(['done']) : tab.makeRecoveryCodes());
    const ask = jest.fn(async () => {
      await Promise.resolve();
      young = true;
      return true;
    });
    const both = await Promise.all([tab.withFreshLogin(action, ask), tab.withFreshLogin(action, ask)]);
    expect(both).toEqual([['done'], ['done']]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('where the password alone was not enough, it asks once more, for the second factor, and never a third time', async () => {
    const tab = await signedIn(world(no('AUTH_403002')));
    const asked: unknown[] = [];
    const ask = (wanted: unknown) => {
      asked.push(wanted);
      return Promise.resolve(true);
    };
    expect(await failure(tab.withFreshLogin(() => tab.makeRecoveryCodes(), ask))).toMatchObject({
      code: 'AUTH_403002',
    });
    expect(asked).toEqual([{ secondFactor: false }, { secondFactor: true }]);
  });
});

describe('reauthenticate()', () => {
  const world = () => new World().on('/login', loggedIn).on('/logout', ok({ result: true }));

  it.each(['LOGIN_401001', 'LOGIN_401004', 'LOGIN_503001'])('%s signs nobody out and keeps the pair', async (code) => {
    const one = world().on('/user/reauthenticate', no(code));
    const tab = await signedIn(one);
    expect(await failure(tab.reauthenticate({ password: 'wrong' }))).toMatchObject({ code });
    expect(stored(one)).toEqual({ access: 'access-1', refresh: 'refresh-1' });
    expect(one.count('/user/reauthenticate')).toBe(1);
  });

  it('answers the code that is due, and the code stores the new pair', async () => {
    const one = world()
      .on('/user/reauthenticate', codeDue)
      .on('/otp-verify', ok({ ...pair(2), device_token: null }));
    const tab = await signedIn(one);
    const code = await tab.reauthenticate({ password: 'Correct-Horse-7', secondFactor: true });
    expect(one.asked.at(-1)!.body).toEqual({ password: 'Correct-Horse-7', second_factor: true });
    expect(code).toMatchObject({ type: 'email', email: 'a•••@example.com', attemptsLeft: 5 });
    expect(stored(one)).toEqual({ access: 'access-1', refresh: 'refresh-1' });
    expect(tab.snapshot.waiting.resend).toBe(60);
    await code!.verify('123 456');
    expect(one.asked.at(-1)!.body).toEqual({ uid: 'u-1', type: 'email', code: '123456', mfa_token: 'token' });
    expect(stored(one)).toEqual({ access: 'access-2', refresh: 'refresh-2' });
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a refused code waits ten seconds, the fifth one ends the confirmation, and the session stays', async () => {
    const one = world().on('/user/reauthenticate', codeDue).on('/otp-verify', no('MFA_401001'));
    const tab = await signedIn(one);
    const code = (await tab.reauthenticate({ password: 'Correct-Horse-7' }))!;
    for (let left = 4; left >= 0; left--) {
      expect(await failure(code.verify('000000'))).toMatchObject({ code: 'MFA_401001' });
      expect(code.attemptsLeft).toBe(left);
      if (left > 0) expect(await failure(code.verify('000000'))).toMatchObject({ rule: 'wait', seconds: 10 });
      await one.clock.pass(10);
    }
    expect(one.count('/otp-verify')).toBe(5);
    expect(tab.snapshot.step).toEqual({ kind: 'signed-in' });
  });

  it('a code can be sent again after a minute', async () => {
    const one = world()
      .on('/user/reauthenticate', codeDue)
      .on('/otp-resend', ok({ result: true, retry_after: 60 }));
    const tab = await signedIn(one);
    const code = (await tab.reauthenticate({ password: 'Correct-Horse-7' }))!;
    expect(await failure(code.resend())).toMatchObject({ rule: 'wait', seconds: 60 });
    await one.clock.pass(60);
    await code.resend();
    expect(one.asked.at(-1)!.body).toEqual({ uid: 'u-1', type: 'email', mfa_token: 'token' });
    expect(tab.snapshot.waiting.resend).toBe(60);
  });

  it('a wait that has been over for a while is no wait, also when something else draws the page again', async () => {
    const one = world()
      .on('/user/reauthenticate', codeDue)
      .on('/otp-verify', no('MFA_401001'))
      .on('/otp-resend', ok({ result: true, retry_after: 60 }));
    const tab = await signedIn(one);
    const code = (await tab.reauthenticate({ password: 'Correct-Horse-7' }))!;
    await failure(code.verify('000000'));
    await one.clock.pass(61);
    await code.resend();
    expect(tab.snapshot.waiting.code).toBe(0);
  });

  it('a user who has cancelled and confirms again within the minute goes on with the code of before', async () => {
    const one = world().on('/user/reauthenticate', codeDue, no('MFA_429001', 40));
    const tab = await signedIn(one);
    const first = await tab.reauthenticate({ password: 'Correct-Horse-7' });
    expect(await tab.reauthenticate({ password: 'Correct-Horse-7' })).toBe(first);
    await tab.logout();
    await tab.login(credentials);
    const refused = await failure(tab.reauthenticate({ password: 'Correct-Horse-7' }));
    expect(refused).toMatchObject({ code: 'MFA_429001', retryAfter: 40 });
  });

  it('a wrong password between the two does not lose the code of before', async () => {
    const one = world().on('/user/reauthenticate', codeDue, no('LOGIN_401001'), no('MFA_429001', 40));
    const tab = await signedIn(one);
    const first = await tab.reauthenticate({ password: 'Correct-Horse-7' });
    expect(await failure(tab.reauthenticate({ password: 'typo' }))).toMatchObject({ code: 'LOGIN_401001' });
    expect(await tab.reauthenticate({ password: 'Correct-Horse-7' })).toBe(first);
  });

  it('a code that was accepted is not gone on with', async () => {
    const one = world()
      .on('/user/reauthenticate', codeDue, no('MFA_429001', 40))
      .on('/otp-verify', ok({ ...pair(2), device_token: null }));
    const tab = await signedIn(one);
    await (await tab.reauthenticate({ password: 'Correct-Horse-7' }))!.verify('123456');
    const refused = await failure(tab.reauthenticate({ password: 'Correct-Horse-7', secondFactor: true }));
    expect(refused).toMatchObject({ code: 'MFA_429001', retryAfter: 40 });
  });

  it('a user who signs out during the request stays signed out, and the new pair is ended', async () => {
    const one = world();
    const tab = await signedIn(one);
    one.on('/user/reauthenticate', async () => {
      await tab.logout();
      return confirmed;
    });
    expect(await failure(tab.reauthenticate({ password: 'Correct-Horse-7' }))).toMatchObject({ rule: 'signed-out' });
    await settled();
    expect(one.asked.filter(({ path }) => path === '/logout').map(({ bearer }) => bearer)).toContain('refresh-2');
    expect(tab.snapshot.step.kind).toBe('signed-out');
  });
});
