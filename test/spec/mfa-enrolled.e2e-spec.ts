import { decodeJwt } from 'jose';
import { DataSource } from 'typeorm';
import type { User } from '../../src/users/user.entity';
import { SoftAuthenticator } from '../support/authenticator';
import { password } from '../support/app';
import { countStatements } from '../support/count-statements';
import { HeldComparisons } from '../support/held-comparisons';
import { MfaClient, pairOf } from '../support/mfa';
import { resetSecondFactor } from '../support/operator';
import { dataOf, origin, PasskeyClient, passkeySettings } from '../support/passkeys';
import { codeOf, goodPassword, submit } from '../support/reset';

/** docs/spec/extensions.md#mfa-enrolled */
describe('MFA_REQUIRED=enrolled', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start({ ...passkeySettings, MFA_REQUIRED: 'enrolled', MFA_TRUSTED_DEVICE_DAYS: '30' });
  });
  afterAll(() => mfa.stop());

  const login = (user: User, more: Record<string, unknown> = {}) => mfa.service.login(user.loginName, password, more);
  const amrOf = (access: unknown) => decodeJwt(String(access)).amr;
  /** A user who has confirmed an authenticator in a session of the password alone. */
  const enrolled = async (name: string): Promise<{ user: User; secret: string }> => {
    const user = await mfa.givenUser(name);
    const { access } = await mfa.service.session(name);
    const { secret } = await mfa.newSecret(access);
    pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    mfa.service.clock.advanceSeconds(60);
    return { user, secret };
  };

  it('asks a user with a confirmed authenticator for its code', async () => {
    const { user, secret } = await enrolled('has-one');
    const { data } = (await login(user)).body;
    expect(data).toMatchObject({ access_token: null, refresh_token: null, mfa_required: true, mfa_type: 'totp' });
    const answer = await mfa.verify(user.uid, 'totp', mfa.code(secret), { mfa_token: data.mfa_token });
    expect(amrOf(pairOf(answer).access)).toEqual(['pwd', 'otp']);
    expect(await mfa.mails(user)).toEqual([]);
  });

  it('asks nobody else: no code is mailed, and the session has the password alone', async () => {
    const user = await mfa.givenUser('has-none');
    const { data } = (await login(user)).body;
    expect(data).toMatchObject({ mfa_required: false, mfa_token: null, access_token: expect.any(String) });
    expect(amrOf(data.access_token)).toEqual(['pwd']);
    expect(await mfa.mails(user)).toEqual([]);
    expect(await mfa.service.count('pending_logins', 'user_id = ?', [user.uid])).toBe(0);
  });

  it('does not ask a user whose enrolment is open, and asks the first login after its confirmation', async () => {
    const user = await mfa.givenUser('on-the-way');
    const { access } = await mfa.service.session('on-the-way');
    const { secret } = await mfa.newSecret(access);
    expect((await login(user)).body.data.mfa_required).toBe(false);
    pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    expect((await login(user)).body.data).toMatchObject({ mfa_required: true, mfa_type: 'totp' });
  });

  it('race: a login that starts after the confirmation asks, and one that has read the account before does not', async () => {
    const user = await mfa.givenUser('racing');
    const { access } = await mfa.service.session('racing');
    const { secret } = await mfa.newSecret(access);
    const comparisons = new HeldComparisons(mfa.service);
    const before = login(user);
    await comparisons.arrived(1);
    pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    comparisons.release(password);
    expect((await before).body.data.mfa_required).toBe(false);
    const after = login(user);
    await comparisons.arrived(1);
    comparisons.release(password);
    expect((await after).body.data.mfa_required).toBe(true);
    jest.restoreAllMocks();
  });

  it('a removed authenticator is asked for no longer', async () => {
    const { user } = await enrolled('lost-phone');
    await resetSecondFactor(mfa.service, user);
    expect((await login(user)).body.data.mfa_required).toBe(false);
  });

  it('an administrator who sets the channel to e-mail changes the channel, and does not turn the factor off', async () => {
    const { user } = await enrolled('by-mail');
    await mfa.service.database.affected("UPDATE users SET mfa_type = 'email' WHERE uid = ?", [user.uid]);
    const { data } = (await login(user)).body;
    expect(data).toMatchObject({ mfa_required: true, mfa_type: 'email', access_token: null });
    expect((await mfa.verify(user.uid, 'email', await mfa.lastCode(user), { mfa_token: data.mfa_token })).status).toBe(
      200,
    );
  });

  it('a trusted device replaces the code, and must prove the factor before it changes one', async () => {
    const { user, secret } = await enrolled('at-home');
    const first = (await login(user)).body.data;
    const trusting = { mfa_token: first.mfa_token, trust_device: true };
    const { device_token } = (await mfa.verify(user.uid, 'totp', mfa.code(secret), trusting)).body.data;
    const { data } = (await login(user, { device_token })).body;
    expect(data).toMatchObject({ mfa_required: false, device_token: expect.any(String) });
    expect(amrOf(data.access_token)).toEqual(['pwd', 'device']);
    const answer = await mfa.service.post('/recovery-codes', undefined, { bearer: data.access_token as string });
    expect(answer.body.error_code).toBe('AUTH_403002');
  });

  it('a recovery code finishes the login', async () => {
    const { user, secret } = await enrolled('recovering');
    const first = (await login(user)).body.data;
    const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), { mfa_token: first.mfa_token }));
    const { codes } = (await mfa.service.post('/recovery-codes', undefined, { bearer: access })).body.data;
    const { mfa_token } = (await login(user)).body.data;
    expect((await mfa.verify(user.uid, 'recovery', codes[0], { mfa_token })).status).toBe(200);
  });

  it('recovery codes and passkeys alone are not asked for at a login with the password', async () => {
    const { service } = mfa;
    const client = new PasskeyClient(service);
    const user = await mfa.givenUser('with-passkey');
    const { access } = await service.session('with-passkey');
    const authenticator = new SoftAuthenticator(origin);
    expect((await client.register(access, authenticator)).status).toBe(200);
    expect((await service.post('/recovery-codes', undefined, { bearer: access })).status).toBe(200);
    expect((await login(user)).body.data.mfa_required).toBe(false);
    expect(dataOf(await client.logIn(authenticator)).data.mfa_required).toBe(false);
  });

  it('a passkey needs no code, also of a user with an authenticator', async () => {
    const client = new PasskeyClient(mfa.service);
    const { user, secret } = await enrolled('both');
    const first = (await login(user)).body.data;
    const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), { mfa_token: first.mfa_token }));
    const authenticator = new SoftAuthenticator(origin);
    expect((await client.register(access, authenticator)).status).toBe(200);
    expect(dataOf(await client.logIn(authenticator)).data).toMatchObject({ access_token: expect.any(String) });
  });

  it('a forced change comes before the code, and the login after it asks for the code', async () => {
    const { user } = await enrolled('temporary');
    await mfa.service.database.affected('UPDATE users SET must_change_password = ? WHERE uid = ?', [1, user.uid]);
    const { data } = (await login(user)).body;
    expect(data).toMatchObject({ change_password: true, mfa_required: false, access_token: null });
    expect(codeOf(await submit(mfa.service, data.change_uid, goodPassword(1)))).toBe('success');
    expect((await mfa.service.login('temporary', goodPassword(1))).body.data).toMatchObject({ mfa_required: true });
  });

  it('takes no statement more than a login that is never asked', async () => {
    const user = await mfa.givenUser('counted');
    const never = await MfaClient.start({ MFA_REQUIRED: 'false' });
    try {
      const other = await never.givenUser('counted');
      // The first login of a process also reads from when on refresh tokens have an audience of their own.
      await Promise.all([login(user), never.service.login(other.loginName)]);
      const mine = countStatements(mfa.service.app.get(DataSource));
      const theirs = countStatements(never.service.app.get(DataSource));
      expect(await mine(() => login(user))).toBe(await theirs(() => never.service.login(other.loginName)));
    } finally {
      await never.stop();
    }
  });

  it('under ADMIN_REQUIRES_MFA an administrator enrols first, and the next login with the code opens the administration', async () => {
    await MfaClient.with({ MFA_REQUIRED: 'enrolled', ADMIN_API: 'on' }, async (strict) => {
      const user = await strict.givenUser('chief', { isAdmin: true });
      const { access } = await strict.service.session('chief');
      const asked = (bearer: string) => strict.service.get('/admin/users', { bearer });
      expect((await asked(access)).body.error_code).toBe('AUTH_403001');
      const { secret } = await strict.newSecret(access);
      const confirmed = pairOf(await strict.verify(user.uid, 'totp', strict.code(secret), {}, { bearer: access }));
      expect((await asked(confirmed.access)).status).toBe(200);
      strict.service.clock.advanceSeconds(60);
      const { mfa_token } = (await strict.service.login('chief')).body.data;
      const { access: later } = pairOf(await strict.verify(user.uid, 'totp', strict.code(secret), { mfa_token }));
      expect((await asked(later)).status).toBe(200);
    });
  });
});
