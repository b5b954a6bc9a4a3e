import { claimsOf } from '../../src/applications/openid/account';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { givenCaller } from '../support/admin';
import { adminSettings } from '../support/admin-client';
import { TestService } from '../support/app';
import { MfaClient } from '../support/mfa';
import { invite } from '../support/operator';
import { goodPassword, linkIn, mailedToken, newMails, submit } from '../support/reset';

const settings = { ...adminSettings, MFA_REQUIRED: 'true' };

/** docs/spec/extensions.md#j: an application may take over an account by its address only if the address was proven. */
describe('email_verified', () => {
  let service: TestService;
  let mfa: MfaClient;
  let users = 0;
  beforeAll(async () => {
    service = await TestService.start(settings);
    mfa = new MfaClient(service);
  });
  afterAll(() => service.stop());

  const given = (more = {}) => service.givenUser(`vera-${++users}`, more);
  const isVerified = async ({ uid }: Pick<User, 'uid'>) =>
    claimsOf((await service.app.get(UsersRepository).findByUid(uid))!).email_verified;

  it('is false for an address that somebody else has entered, also after a login', async () => {
    const user = await given();
    await mfa.logIn(user.loginName);
    expect(await isVerified(user)).toBe(false);
  });

  it('is true after a mailed code, until the address is another one', async () => {
    const user = await given();
    const { uid, code } = await mfa.logInByMail(user);
    await mfa.verify(uid, 'email', String(Number(code) ^ 1).padStart(6, '0'));
    expect(await isVerified(user)).toBe(false);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
    expect(await isVerified(user)).toBe(true);

    const { bearer } = await givenCaller(service, { isAdmin: true });
    const other = { email: `other-${users}@example.com` };
    expect((await service.send('PATCH', `/admin/users/${uid}`, other, { bearer })).status).toBe(200);
    expect(await isVerified(user)).toBe(false);
  });

  it('is true after a mailed link, for a new password or the first one', async () => {
    const forgetful = await given();
    expect((await submit(service, await mailedToken(service, forgetful.email!), goodPassword(users))).status).toBe(200);
    const invited = await given({ password: null });
    await newMails(service);
    await invite(service, invited);
    const [mail] = await newMails(service);
    const token = linkIn(mail).searchParams.get('uid');
    expect(await isVerified(invited)).toBe(false);
    expect((await submit(service, token, goodPassword(users))).status).toBe(200);
    expect([await isVerified(forgetful), await isVerified(invited)]).toEqual([true, true]);
  });

  it('stays false after a change that a login has demanded: nothing was mailed', async () => {
    const user = await given({ temporary: true });
    const { body } = await service.login(user.loginName);
    expect((await submit(service, body.data.change_uid, goodPassword(users))).status).toBe(200);
    expect(await isVerified(user)).toBe(false);
  });

  it('stays false with RESET_RESPONSE_UID=token, where who asks for a link gets it without the mail', async () => {
    const other = await TestService.start({ ...settings, RESET_RESPONSE_UID: 'token' });
    const user = await other.givenUser('vera');
    const { body } = await other.post('/forget-password', { email: user.email });
    expect((await submit(other, body.data.uid, goodPassword(1))).status).toBe(200);
    expect(claimsOf((await other.app.get(UsersRepository).findByUid(user.uid))!).email_verified).toBe(false);
    await other.stop();
  });

  it('is true for a directory user, and left out without an address', async () => {
    const user = (await service.app.get(UsersRepository).findByUid((await given()).uid))!;
    expect(claimsOf({ ...user, provider: 'ldap' }).email_verified).toBe(true);
    expect(claimsOf({ ...user, provider: 'oidc' }).email_verified).toBe(false);
    expect(claimsOf({ ...user, email: null, emailKey: null }).email_verified).toBeUndefined();
  });
});
