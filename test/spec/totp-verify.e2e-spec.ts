import { decodeJwt } from 'jose';
import { resetSecondFactor } from '../support/operator';
import { tally } from '../support/app';
import { MfaClient, pairOf } from '../support/mfa';

describe('POST /otp-verify, type totp', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  it('the code of the authenticator finishes the login, and the code that confirmed it was no sign-in', async () => {
    const { user, secret } = await mfa.givenAuthenticator('right');
    const { uid } = await mfa.logIn('right');
    const before = await mfa.tokens(user);
    const { access } = pairOf(await mfa.verify(uid, 'totp', mfa.code(secret)));
    expect(decodeJwt(access).amr).toEqual(['pwd', 'otp']);
    expect(await mfa.tokens(user)).toBe(before + 2);
    expect(
      await mfa.service.count('login_logs', "user_id = ? AND outcome = 'success' AND mfa = 'totp'", [user.uid]),
    ).toBe(1);
  });

  it('T080 a wrong code is answered with AUTH_MFA_401001, and is logged and audited', async () => {
    const { user, secret } = await mfa.givenAuthenticator('t080');
    const { uid } = await mfa.logIn('t080');
    const before = await mfa.tokens(user);
    const answer = await mfa.verify(uid, 'totp', mfa.wrongCode(secret));
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'AUTH_MFA_401001' } });
    expect(await mfa.tokens(user)).toBe(before);
    expect(
      await mfa.service.count('login_logs', "user_id = ? AND outcome = 'AUTH_MFA_401001' AND mfa = 'totp'", [uid]),
    ).toBe(1);
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toEqual([{ type: 'totp', purpose: 'login' }]);
    expect((await mfa.row('pending_logins', user)).attempts).toBe(1);
  });

  it.each([
    [-2, 401],
    [-1, 200],
    [0, 200],
    [1, 200],
    [2, 401],
  ])('T082 the code of the time step %d is answered with %d', async (steps, status) => {
    const { secret } = await mfa.givenAuthenticator(`t082${steps}`);
    mfa.service.clock.advanceSeconds(300);
    const { uid } = await mfa.logIn(`t082${steps}`);
    expect((await mfa.verify(uid, 'totp', mfa.code(secret, steps))).status).toBe(status);
  });

  it('T083 a code works once, also across logins and for its whole window', async () => {
    const { secret } = await mfa.givenAuthenticator('t083');
    const { uid } = await mfa.logIn('t083');
    const code = mfa.code(secret);
    expect((await mfa.verify(uid, 'totp', code)).status).toBe(200);
    expect((await mfa.verify(uid, 'totp', code)).body.error_code).toBe('AUTH_MFA_401001');
    await mfa.logIn('t083');
    expect((await mfa.verify(uid, 'totp', code)).status).toBe(401);
    mfa.service.clock.advanceSeconds(30);
    expect((await mfa.verify(uid, 'totp', code)).status).toBe(401);
    expect((await mfa.verify(uid, 'totp', mfa.code(secret))).status).toBe(200);
  });

  it('after a code of the next time step the code of the current step is refused', async () => {
    const { secret } = await mfa.givenAuthenticator('ahead');
    const { uid } = await mfa.logIn('ahead');
    expect((await mfa.verify(uid, 'totp', mfa.code(secret, 1))).status).toBe(200);
    await mfa.logIn('ahead');
    expect((await mfa.verify(uid, 'totp', mfa.code(secret))).status).toBe(401);
  });

  it('the code that confirmed the authenticator cannot be used for a login', async () => {
    const user = await mfa.givenUser('first');
    const { access } = await mfa.session(user);
    const { secret } = await mfa.newSecret(access);
    const code = mfa.code(secret);
    await mfa.verify(user.uid, 'totp', code, {}, { bearer: access });
    await mfa.logIn('first');
    expect((await mfa.verify(user.uid, 'totp', code)).status).toBe(401);
  });

  it('T085 of 20 parallel requests with the right code one gets a token pair', async () => {
    const { user, secret } = await mfa.givenAuthenticator('t085');
    const { uid } = await mfa.logIn('t085');
    const before = await mfa.tokens(user);
    const answers = await Promise.all(Array.from({ length: 20 }, () => mfa.verify(uid, 'totp', mfa.code(secret))));
    expect(tally(answers)).toEqual({ success: 1, AUTH_MFA_401001: 19 });
    expect(await mfa.tokens(user)).toBe(before + 2);
  });

  it('T086 five wrong codes end the pending login, and ten over several logins block all codes for 900 s', async () => {
    const { user, secret } = await mfa.givenAuthenticator('t086');
    await mfa.logIn('t086');
    for (let n = 1; n <= 5; n++) await mfa.verify(user.uid, 'totp', mfa.wrongCode(secret, n));
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(401);
    for (let n = 6; n <= 10; n++) {
      await mfa.logIn('t086');
      await mfa.verify(user.uid, 'totp', mfa.wrongCode(secret, n));
    }
    await mfa.logIn('t086');
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).body.error_code).toBe('AUTH_MFA_401001');
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(10);
    mfa.service.clock.advanceSeconds(899);
    await mfa.logIn('t086');
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(401);
    mfa.service.clock.advanceSeconds(1);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(200);
  });

  it('of 200 parallel wrong codes five are compared, and the right code is refused afterwards', async () => {
    const { user, secret } = await mfa.givenAuthenticator('burst');
    const { uid } = await mfa.logIn('burst');
    const right = mfa.code(secret);
    const codes = Array.from({ length: 200 }, (_, n) => mfa.wrongCode(secret, n + 1));
    await Promise.all(codes.map((code) => mfa.verify(uid, 'totp', code)));
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(5);
    expect((await mfa.verify(uid, 'totp', right)).status).toBe(401);
  });

  it('a stranger can neither use the pending login nor use up its attempts', async () => {
    const { user, secret } = await mfa.givenAuthenticator('owner');
    const { uid, mfaToken } = await mfa.logIn('owner');
    const stranger = { ip: '198.51.100.7' };
    for (let n = 0; n < 6; n++) {
      expect((await mfa.verify(uid, 'totp', mfa.code(secret), {}, stranger)).body.error_code).toBe('AUTH_MFA_401001');
      await mfa.verify(uid, 'totp', mfa.wrongCode(secret), { mfa_token: 'A'.repeat(43) });
    }
    expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
    expect((await mfa.service.userRow(uid)).mfa_failed_count).toBe(0);
    expect((await mfa.verify(uid, 'totp', mfa.code(secret), { mfa_token: mfaToken }, stranger)).status).toBe(200);
  });

  it('T069 a user who is disabled between login and code gets no token', async () => {
    const { user, secret } = await mfa.givenAuthenticator('t069');
    await mfa.logIn('t069');
    const before = await mfa.tokens(user);
    await mfa.service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [user.uid]);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(401);
    expect(await mfa.tokens(user)).toBe(before);
  });

  it('T255 T097 after the clock is set back by 90 s neither the used code nor an earlier one is accepted', async () => {
    const { user, secret } = await mfa.givenAuthenticator('t097');
    const { uid } = await mfa.logIn('t097');
    const code = mfa.code(secret);
    await mfa.verify(uid, 'totp', code);
    const before = await mfa.tokens(user);
    mfa.service.clock.advanceSeconds(-90);
    await mfa.logIn('t097');
    for (const other of [mfa.code(secret, -1), mfa.code(secret), mfa.code(secret, 1), code]) {
      expect((await mfa.verify(uid, 'totp', other)).status).toBe(401);
    }
    mfa.service.clock.advanceSeconds(90);
    expect((await mfa.verify(uid, 'totp', code)).status).toBe(401);
    expect(await mfa.tokens(user)).toBe(before);
  });

  it.each(['12345', '1234567', '', ' 123456', '１２３４５６', '0x1E240', '1e5', -1, ['123456']])(
    'T095 the malformed code %p is refused, and the right code works afterwards',
    async (code) => {
      const name = `t095-${Buffer.from(JSON.stringify(code)).toString('hex').slice(0, 40)}`;
      const { secret } = await mfa.givenAuthenticator(name);
      const { uid } = await mfa.logIn(name);
      const { status, body } = await mfa.verify(uid, 'totp', code);
      expect([status, body.error_code]).toEqual(
        typeof code === 'string' ? [401, 'AUTH_MFA_401001'] : [400, 'COMMON_400001'],
      );
      expect((await mfa.verify(uid, 'totp', mfa.code(secret))).status).toBe(200);
    },
  );

  it('reset-totp removes the authenticator: a login that waits for its code is refused, and the next one uses mail', async () => {
    const { user, secret } = await mfa.givenAuthenticator('lost');
    await mfa.logIn('lost');
    await resetSecondFactor(mfa.service, user);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(401);
    expect(await mfa.service.userRow(user.uid)).toMatchObject({ topt_secret: null, mfa_type: 'email' });
    expect(await mfa.service.count('totp_secrets', 'user_id = ?', [user.uid])).toBe(0);
    expect(await mfa.events(user, 'TOTP_RESET')).toHaveLength(1);
    const { uid, code } = await mfa.logInByMail(user);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });
});
