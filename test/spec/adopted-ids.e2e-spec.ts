import { decodeJwt } from 'jose';
import { isUserId } from '../../src/shared/user-id';
import { UsersRepository } from '../../src/users/users.repository';
import { adminRoutes, givenCaller, givenDeviceRow, givenPasskeyRow, givenTenant, tokenOf } from '../support/admin';
import { adminRequests } from '../support/admin-requests';
import { givenIdentityProvider } from '../support/identity-providers';
import { SoftAuthenticator } from '../support/authenticator';
import { givenGroup } from '../support/groups';
import { MfaClient, mfaSettings } from '../support/mfa';
import { dataOf, origin, PasskeyClient } from '../support/passkeys';

/** docs/spec/extensions.md#migrate: the id of another system stays the uid, and every endpoint accepts it. */
describe('a user whose uid is the id of another system', () => {
  let passkeys: PasskeyClient;
  let mfa: MfaClient;
  beforeAll(async () => {
    passkeys = await PasskeyClient.start({ ...mfaSettings, ADMIN_API: 'on', MFA_TRUSTED_DEVICE_DAYS: '30' });
    mfa = new MfaClient(passkeys.service);
    await givenTenant(mfa.service, 'acme');
  });
  afterAll(() => mfa.stop());

  it.each(['7', '-', 'Legacy_42-x', 'A'.repeat(36)])('logs in with both factors under the uid %s', async (uid) => {
    const user = await mfa.givenUser(`user-${uid.slice(0, 8)}`, { uid });
    const open = await mfa.logIn(user.loginName);
    expect(open.uid).toBe(uid);
    mfa.service.clock.advanceSeconds(61);
    expect((await mfa.resend(uid, 'email', { mfa_token: open.mfaToken })).status).toBe(200);
    const { access } = await mfa.session(user);
    expect((await mfa.service.get('/user/me', { bearer: access })).body.data.uid).toBe(uid);

    const { secret } = await mfa.newSecret(access);
    const picture = await mfa.service.get(`/otp-qrcode/${uid}`, { bearer: access });
    expect(picture.headers['content-type']).toBe('image/png');
    expect((await mfa.verify(uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
  });

  it('keeps apart two uids that differ in case only (T342)', async () => {
    const [lower, upper] = [await mfa.givenUser('lower', { uid: 'abc' }), await mfa.givenUser('upper', { uid: 'ABC' })];
    const open = await mfa.logInByMail(lower);
    expect((await mfa.verify(upper.uid, 'email', open.code)).body.error_code).toBe('MFA_401001');
    expect((await mfa.verify(lower.uid, 'email', open.code)).status).toBe(200);
  });

  it('logs in with a passkey, whose user handle is the uid', async () => {
    const user = await mfa.givenUser('keys', { uid: 'k_1' });
    const authenticator = new SoftAuthenticator(origin);
    dataOf(await passkeys.register(await passkeys.openSession(user), authenticator));
    const { data } = dataOf(await passkeys.logIn(authenticator));
    expect(data.user_info.uid).toBe('k_1');
  });

  it('is found and changed by every endpoint of the administration', async () => {
    const { bearer } = await givenCaller(mfa.service, { isAdmin: true, uid: 'Admin_1' });
    const user = await mfa.givenUser('target', { uid: 'T-1', password: null, tenantId: 'acme' });
    const current = () => mfa.service.app.get(UsersRepository).findByUid(user.uid);
    const passkey = await givenPasskeyRow(mfa.service, user.uid);
    const { id: provider } = await givenIdentityProvider(mfa.service);
    const ofUsers = adminRoutes().filter((route) => route.includes(':uid'));
    expect(ofUsers.length).toBeGreaterThan(9);
    const deletion = 'DELETE /admin/users/:uid';
    for (const route of [...ofUsers.filter((one) => one !== deletion), deletion]) {
      const group = await givenGroup(mfa.service, route, { tenantId: 'acme' });
      const { sid: session } = decodeJwt(await tokenOf(mfa.service, (await current())!)) as { sid: string };
      const device = await givenDeviceRow(mfa.service, user.uid);
      const others = { application: '', provider, issuer: '', group, receiver: '' };
      const targets = { uid: user.uid, passkey, session, device, ...others };
      const { path, body } = adminRequests[route]!(targets);
      const { status } = await mfa.service.send(route.split(' ')[0] as 'GET', path, body, { bearer });
      expect({ route, status }).toEqual({ route, status: 200 });
    }
    const logs = await mfa.service.get('/admin/audit-logs?user_id=T-1&actor_id=Admin_1', { bearer });
    expect(logs.body.data.items.map((item: { event: string }) => item.event)).toContain('USER_DELETED');
  });

  it.each(['', 'a b', 'a/b', '../a', 'a%', "a'--", 'ä', 'a\n', 'A'.repeat(37), '７', null, 7, ['a']])(
    'the uid %j is none: it is answered like an unknown one (T342)',
    async (uid) => {
      expect(isUserId(uid)).toBe(false);
      if (typeof uid !== 'string') return;
      expect((await mfa.verify(uid, 'email', '123456')).body.error_code).toBe('MFA_401001');
    },
  );
});
