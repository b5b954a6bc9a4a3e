import { memoryStorage } from '../dist/index.js';
import {
  codeAccepted,
  credentials,
  deviceTrusted,
  failure,
  fresh,
  listening,
  loggedIn,
  no,
  ok,
  settled,
  World,
} from './world';

async function enrolling(...replies: ReturnType<typeof no>[]) {
  const world = new World()
    .on('/login', loggedIn)
    .on('/refresh', fresh('access-1a'))
    .on('/logout', ok({ result: true }))
    .on('/user/me', ok({ uid: 'u-1', login_name: 'alice' }))
    .on('/totp-secret', ok({ secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/x' }))
    .on('/otp-verify', ...replies);
  const written: string[] = [];
  const tab = world.tab(listening(memoryStorage(), written), { storage: listening(world.storage, written) });
  await tab.login(credentials);
  const start = tab.startEnrolment();
  await world.clock.pass(1);
  await start;
  return { world, tab, written };
}

describe('setting up an authenticator', () => {
  it('the first code is sent in the current session, which is then revoked, and the new token pair is stored', async () => {
    const { world, tab } = await enrolling(codeAccepted);
    expect(tab.snapshot.enrolment).toMatchObject({ secret: 'JBSWY3DPEHPK3PXP' });
    await tab.confirmEnrolment(' 123 456 ');
    await settled();
    expect(world.asked.slice(-2)).toMatchObject([
      { path: '/otp-verify', bearer: 'access-1a', body: { uid: 'u-1', type: 'totp', code: '123456' } },
      { path: '/logout', bearer: 'refresh-1' },
    ]);
    expect(tab.snapshot).toMatchObject({ step: { kind: 'signed-in' }, enrolment: undefined });
    expect(world.storage.getItem('portal-auth.session')).toContain('access-2');
  });

  it('can trust this device again, because the new authenticator ends the trust in all devices', async () => {
    const { world, tab } = await enrolling(deviceTrusted('device-2'));
    await tab.confirmEnrolment('123456', { trustDevice: true });
    expect(world.asked.find(({ path }) => path === '/otp-verify')!.body).toEqual({
      uid: 'u-1',
      type: 'totp',
      code: '123456',
      trust_device: true,
    });
    await tab.login(credentials);
    expect(world.asked.at(-1)!.body.device_token).toBe('device-2');
  });

  it('renews the access token first, because the service treats an expired token like a missing one', async () => {
    const { world } = await enrolling(codeAccepted);
    expect(world.asked.map(({ path }) => path)).toEqual(['/login', '/refresh', '/user/me', '/totp-secret']);
  });

  it('the secret is never stored: a reload needs a new secret, and a logout removes it from memory', async () => {
    const { world, tab, written } = await enrolling(codeAccepted);
    expect(written.join()).toContain('access-1');
    expect(written.join()).not.toContain('JBSWY3DPEHPK3PXP');
    expect(world.tab().snapshot.enrolment).toBeUndefined();
    await tab.logout();
    expect(tab.snapshot.enrolment).toBeUndefined();
  });

  it('each refused code starts a wait of 10 s, and the fifth ends the enrolment', async () => {
    const { world, tab } = await enrolling(no('AUTH_MFA_401001'));
    for (let i = 0; i < 4; i++) {
      await failure(tab.confirmEnrolment('000000'));
      expect(tab.snapshot.waiting.code).toBe(10);
      expect(await failure(tab.confirmEnrolment('000000'))).toMatchObject({ rule: 'wait' });
      await world.clock.pass(10);
    }
    await failure(tab.confirmEnrolment('000000'));
    expect(tab.snapshot).toMatchObject({ step: { kind: 'signed-in' }, enrolment: undefined });
    expect(world.count('/otp-verify')).toBe(5);
  });
});
