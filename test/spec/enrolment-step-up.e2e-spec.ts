import { decodeJwt } from 'jose';
import { givenCaller, startAdministration, tokenOf } from '../support/admin';
import { MfaClient, pairOf } from '../support/mfa';
import { SoftAuthenticator } from '../support/authenticator';
import { password } from '../support/settings';
import { resetSecondFactor } from '../support/operator';

const ttl = 7 * 86_400;

/**
 * The first code of a new authenticator proves the authenticator, and nothing about who enrols it. The session that it
 * opens is therefore no stronger and no younger than the session that has enrolled.
 */
describe('the session that the confirmation of an authenticator opens', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    // One access token lives through the steps of each test.
    mfa = new MfaClient(await startAdministration({ ACCESS_TOKEN_TTL_SECONDS: '3600' }));
  });
  afterAll(() => mfa.stop());

  const admin = (factor: 'totp' | 'device' | 'passkey' | null) => givenCaller(mfa.service, { isAdmin: true }, factor);
  const secret = async (bearer: string, body?: unknown) => {
    const answer = await mfa.service.post('/totp-secret', body, { bearer });
    return answer.status === 200 ? (answer.body.data.secret as string) : String(answer.body.error_code);
  };
  const confirm = async (uid: string, bearer: string, of: string) =>
    pairOf(await mfa.verify(uid, 'totp', mfa.code(of), {}, { bearer }));
  const enrol = async (uid: string, bearer: string) => confirm(uid, bearer, await secret(bearer));

  const first = (access: string) =>
    mfa.service.database.row<Record<'authenticated_at' | 'expires' | 'amr', unknown>>(
      'SELECT authenticated_at, expires, amr FROM login_tokens WHERE jti = ?',
      [String(decodeJwt(access).sid)],
    );
  /** What the token may do: read as an administrator, change as one, and what only a young session may do. */
  const rights = async (bearer: string, uid: string) => {
    const answers = [
      await mfa.service.get('/admin/users', { bearer }),
      await mfa.service.send('PATCH', `/admin/users/${uid}`, { nickname: 'other' }, { bearer }),
      await mfa.service.post('/passkeys/options', {}, { bearer }),
      await mfa.service.post('/recovery-codes', {}, { bearer }),
    ];
    return answers.map(({ status, body }) => (status === 200 ? 'open' : String(body.error_code)));
  };
  const old = 'AUTH_403002';
  const weak = 'AUTH_403001';

  it('is as weak and as old as the stolen token of an administrator that has enrolled it (T353)', async () => {
    const { user, bearer } = await admin(null);
    const begin = await first(bearer);
    mfa.service.clock.advanceSeconds(301);
    const { access, refresh } = await enrol(user.uid, bearer);
    expect(decodeJwt(access).amr).toEqual(['pwd']);
    expect(decodeJwt(access).auth_time).toBe(decodeJwt(bearer).auth_time);
    // The thief of an access token gets no session that outlives the stolen one either.
    expect(await first(access)).toEqual(begin);
    expect(decodeJwt(refresh).exp).toBe(Number(decodeJwt(bearer).iat) + ttl);
    expect(await rights(access, user.uid)).toEqual([weak, weak, old, old]);
    const refreshed = await mfa.service.post('/refresh', undefined, { bearer: refresh });
    expect(await rights(refreshed.body.data.access_token as string, user.uid)).toEqual([weak, weak, old, old]);
    // Nor does it count as recent for the next authenticator.
    expect(await secret(access)).toBe('AUTH_MFA_401001');
  });

  it('of an old session with a second factor keeps the factor, and stays old', async () => {
    const { user, bearer } = await admin('totp');
    mfa.service.clock.advanceSeconds(301);
    const { access } = await enrol(user.uid, bearer);
    expect(decodeJwt(access).amr).toEqual(['pwd', 'otp']);
    expect(await rights(access, user.uid)).toEqual(['open', old, old, old]);
  });

  it('of a young session has the second factor, and is young from then on: the code is a credential check', async () => {
    const { user, bearer } = await admin(null);
    mfa.service.clock.advanceSeconds(299);
    const { access } = await enrol(user.uid, bearer);
    expect(decodeJwt(access).amr).toEqual(['pwd', 'otp']);
    expect(await rights(access, user.uid)).toEqual(['open', 'open', 'open', 'open']);
    mfa.service.clock.advanceSeconds(300);
    expect(await rights(access, user.uid)).toEqual(['open', 'open', 'open', 'open']);
    mfa.service.clock.advanceSeconds(1);
    expect(await rights(access, user.uid)).toEqual(['open', old, old, old]);
  });

  it('does not make its login recent: 300 s after that, the authenticator is replaced with its code only (T353)', async () => {
    const { user, bearer } = await admin('totp');
    mfa.service.clock.advanceSeconds(250);
    const { access } = await enrol(user.uid, bearer);
    mfa.service.clock.advanceSeconds(60);
    expect(await secret(access)).toBe('AUTH_MFA_401001');
  });

  it('of a login with a passkey says so, and not that a password was used', async () => {
    const { user, bearer } = await admin('passkey');
    expect(decodeJwt((await enrol(user.uid, bearer)).access).amr).toEqual(['hwk', 'user', 'mfa', 'otp']);
  });

  it('of a trusted device has no second factor, however young it is (T288)', async () => {
    const { user, bearer } = await admin('device');
    expect(await secret(bearer)).toBe(old);
    expect(await rights(bearer, user.uid)).toEqual([weak, weak, old, old]);
  });

  it('a password alone adds no first authenticator to an administrator who has a passkey (T323)', async () => {
    const { user, bearer } = await admin('passkey');
    const options = (await mfa.service.post('/passkeys/options', {}, { bearer })).body.data;
    const response = new SoftAuthenticator('http://portal.test').create(options);
    const added = await mfa.service.post('/passkeys', { name: 'Phone', response }, { bearer });
    const { id } = added.body.data as { id: string };
    const thief = await tokenOf(mfa.service, user, null);
    expect(await secret(thief)).toBe(old);
    expect(await rights(thief, user.uid)).toEqual([weak, weak, old, old]);
    // Without the passkey there is no factor that the owner could prove, so the password may add one again.
    expect((await mfa.service.send('DELETE', `/passkeys/${id}`, undefined, { bearer })).status).toBe(200);
    const { access } = await enrol(user.uid, thief);
    expect(await rights(access, user.uid)).toEqual(['open', 'open', 'open', 'open']);
  });

  it('a password alone puts no other factor in the place of those of an administrator, however young it is (T323)', async () => {
    const { user, bearer } = await admin('totp');
    const active = await secret(bearer);
    await confirm(user.uid, bearer, active);
    const thief = await tokenOf(mfa.service, user, null);
    expect(await secret(thief)).toBe('AUTH_MFA_401001');
    expect(await rights(thief, user.uid)).toEqual([weak, weak, old, old]);
    // The owner, who has the authenticator, gets in where no login asks for a code.
    mfa.service.clock.advanceSeconds(60);
    const next = await secret(thief, { code: mfa.code(active) });
    mfa.service.clock.advanceSeconds(60);
    const { access } = await confirm(user.uid, thief, next);
    expect(await rights(access, user.uid)).toEqual(['open', 'open', 'open', 'open']);
  });

  it('a change of the own password makes no session recent enough to replace the authenticator without its code', async () => {
    const user = await mfa.givenUser('own-change');
    const bearer = await tokenOf(mfa.service, user, 'totp');
    await confirm(user.uid, bearer, await secret(bearer));
    const stolen = await tokenOf(mfa.service, user, 'totp');
    mfa.service.clock.advanceSeconds(301);
    const passwords = { password: 'Another-Horse-8', confirm_password: 'Another-Horse-8' };
    const { body } = await mfa.service.post(
      '/user/change-password',
      { current_password: password, ...passwords },
      { bearer: stolen },
    );
    expect(await secret(body.data.access_token as string)).toBe('AUTH_MFA_401001');
  });

  it('a trusted device replaces an authenticator with its code only, at any age', async () => {
    const { user, bearer } = await admin('totp');
    const active = await secret(bearer);
    await confirm(user.uid, bearer, active);
    mfa.service.clock.advanceSeconds(60);
    const device = await tokenOf(mfa.service, user, 'device');
    const before = await mfa.row('totp_secrets', user);
    expect(await secret(device)).toBe('AUTH_MFA_401001');
    expect(await mfa.row('totp_secrets', user)).toEqual(before);
    const next = await secret(device, { code: mfa.code(active) });
    mfa.service.clock.advanceSeconds(60);
    const { access } = await confirm(user.uid, device, next);
    expect(decodeJwt(access).amr).toEqual(['pwd', 'device']);
    expect(await rights(access, user.uid)).toEqual([weak, weak, old, old]);
  });

  it('is not recent by its own beginning, after a reset of the authenticator', async () => {
    const { user, bearer: stolen } = await admin(null);
    mfa.service.clock.advanceSeconds(301);
    const { access } = await enrol(user.uid, stolen);
    await resetSecondFactor(mfa.service, user);
    const owner = await tokenOf(mfa.service, user, null);
    await enrol(user.uid, owner);
    expect(await secret(access)).toBe('AUTH_MFA_401001');
  });

  it('a session of a version that stored neither its factors nor its time is old and has a password only', async () => {
    const { user, bearer } = await admin('totp');
    await mfa.service.database.affected(
      'UPDATE login_tokens SET amr = NULL, authenticated_at = NULL WHERE user_identity = ?',
      [user.uid],
    );
    const { access } = await enrol(user.uid, bearer);
    expect(decodeJwt(access).amr).toEqual(['pwd']);
    expect(await rights(access, user.uid)).toEqual([weak, weak, old, old]);
  });
});
