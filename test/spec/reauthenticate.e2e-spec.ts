import { decodeJwt } from 'jose';
import { type Answer, password, type Request } from '../support/app';
import { SoftAuthenticator } from '../support/authenticator';
import { MfaClient, mailsStay, pairOf, wrongCode } from '../support/mfa';
import { dataOf, PasskeyClient, passkeySettings } from '../support/passkeys';
import { codeOf } from '../support/reset';
import { foreignId } from '../support/routes';

const settings = { ...passkeySettings, ...mailsStay, RATE_LIMIT: 'off' };
const refused = (code: string) => expect.objectContaining({ error_code: code }) as unknown;

/** docs/spec/extensions.md#reauthenticate */
describe('POST /user/reauthenticate', () => {
  let mfa: MfaClient;
  let passkeys: PasskeyClient;
  beforeAll(async () => {
    mfa = await MfaClient.start({ ...settings, MFA_REQUIRED: 'false' });
    passkeys = new PasskeyClient(mfa.service);
  });
  afterAll(() => mfa.stop());

  let users = 0;
  const given = async (more: Parameters<MfaClient['givenUser']>[1] = {}, client = mfa) => {
    const name = `owner${++users}`;
    const user = await client.givenUser(name, more);
    return { user, name, ...(await client.service.session(name)) };
  };
  const confirm = (bearer: string, body: Record<string, unknown>, client = mfa, request: Request = {}) =>
    client.service.post('/user/reauthenticate', body, { bearer, ...request });
  const isYoung = async (bearer: string, client = mfa) =>
    codeOf(await client.service.post('/recovery-codes', undefined, { bearer })) === 'success';
  const failures = async (uid: string) => Number((await mfa.service.userRow(uid)).login_failed_count);
  const refresh = async (bearer: string, client = mfa) =>
    codeOf(await client.service.post('/refresh', undefined, { bearer }));
  const logsOf = (uid: string) =>
    mfa.service.database.rows('SELECT provider, mfa, outcome FROM login_logs WHERE user_id = ? ORDER BY id', [uid]);
  const assertion = async (authenticator: SoftAuthenticator) => {
    const { challenge_id, options } = await passkeys.challenge();
    return { challenge_id, response: authenticator.get(options) };
  };
  const old = (client = mfa) => client.service.clock.advanceSeconds(301);

  describe('with the password', () => {
    it('answers like /login, with new tokens of the same session, which is young again', async () => {
      const { user, access, refresh: former } = await given();
      old();
      expect(await isYoung(access)).toBe(false);
      const { data } = dataOf(await confirm(access, { password }));
      expect(data).toMatchObject({
        user_info: { uid: user.uid, login_name: user.loginName, email: user.email },
        tenants: [{ tenant_id: 'root' }],
        ...{ change_password: false, change_uid: null, mfa_required: false, mfa_token: null, device_token: null },
      });
      const before = decodeJwt(former);
      for (const token of [data.access_token, data.refresh_token]) {
        expect(decodeJwt(token as string)).toMatchObject({ sub: user.uid, sid: before.sid, amr: ['pwd'] });
      }
      expect(decodeJwt(data.refresh_token as string).exp).toBe(before.exp);
      expect(await isYoung(data.access_token as string)).toBe(true);
      expect(await refresh(data.refresh_token as string)).toBe('success');
    });

    it('the former refresh token is refused, and the former access token lives until it expires', async () => {
      const { access, refresh: former } = await given();
      const pair = pairOf(await confirm(access, { password }));
      expect(await refresh(former)).toBe('AUTH_401006');
      expect(codeOf(await mfa.service.get('/user/me', { bearer: access }))).toBe('success');
      expect(codeOf(await mfa.service.post('/logout', undefined, { bearer: former }))).toBe('success');
      expect(codeOf(await mfa.service.get('/user/me', { bearer: pair.access }))).toBe('AUTH_401004');
    });

    it('is in the audit log and no login: one row of login_logs, the list of sessions has one', async () => {
      const { user, access } = await given();
      const pair = pairOf(await confirm(access, { password }));
      expect(await mfa.events(user, 'SESSION_CONFIRMED')).toEqual([{ sid: decodeJwt(access).sid, mfa: null }]);
      expect(await logsOf(user.uid)).toEqual([{ provider: 'password', mfa: null, outcome: 'success' }]);
      const { sessions } = dataOf(await mfa.service.get('/user/sessions', { bearer: pair.access })).data;
      expect(sessions).toHaveLength(1);
    });

    it('a wrong one is LOGIN_401001, counts as at /login, is logged, and leaves the session', async () => {
      const { user, name, access } = await given();
      await mfa.service.login(name, 'wrong');
      expect(codeOf(await confirm(access, { password: 'wrong' }))).toBe('LOGIN_401001');
      expect(await failures(user.uid)).toBe(2);
      expect((await logsOf(user.uid)).at(-1)).toEqual({ provider: 'password', mfa: null, outcome: 'LOGIN_401001' });
      expect(codeOf(await mfa.service.get('/user/me', { bearer: access }))).toBe('success');
      expect(codeOf(await confirm(access, { password }))).toBe('success');
      expect(await failures(user.uid)).toBe(0);
    });

    it('the third wrong one locks, also the login, and then the right one is LOGIN_401004', async () => {
      const { name, access } = await given();
      for (let n = 0; n < 3; n++) await confirm(access, { password: `wrong ${n}` });
      expect(codeOf(await confirm(access, { password }))).toBe('LOGIN_401004');
      expect(codeOf(await mfa.service.login(name))).toBe('LOGIN_401004');
    });

    it('a password change that is due does not interrupt it', async () => {
      const { user, access } = await given();
      await mfa.service.database.affected('UPDATE users SET must_change_password = 1 WHERE uid = ?', [user.uid]);
      expect(dataOf(await confirm(access, { password })).data).toMatchObject({
        change_password: false,
        access_token: expect.any(String),
      });
    });

    it('an account that was not used for too long is refused as at /login', async () => {
      const { user, access } = await given();
      const long = new Date(mfa.now.getTime() - 1000 * 86_400_000);
      await mfa.service.database.affected(
        'UPDATE users SET last_login_success_time = ?, created_at = ? WHERE uid = ?',
        [long, long, user.uid],
      );
      expect(codeOf(await confirm(access, { password }))).toBe(codeOf(await mfa.service.login(user.loginName)));
    });
  });

  describe('the body', () => {
    it.each([
      [{}],
      [{ password: null }],
      [{ password: '' }],
      [{ password: 7 }],
      [{ password, challenge_id: foreignId }],
      [{ password, challenge_id: foreignId, response: {} }],
      [{ challenge_id: foreignId }],
      [{ response: {} }],
      [{ password, second_factor: 'yes' }],
    ])('%j is COMMON_400001 with the field, and counts nothing', async (body) => {
      const { user, access } = await given();
      const answer = await confirm(access, body);
      expect(answer.body).toMatchObject({ error_code: 'COMMON_400001', data: { fields: expect.any(Object) } });
      expect(await failures(user.uid)).toBe(0);
    });

    it('the token is judged first: without one, with a refresh token and after the logout nothing is checked', async () => {
      const { user, access, refresh: token } = await given();
      expect(codeOf(await confirm('nonsense', { password: 'wrong' }))).toBe('AUTH_401001');
      expect(codeOf(await confirm(token, { password: 'wrong' }))).toBe('AUTH_401001');
      await mfa.service.post('/logout', undefined, { bearer: access });
      expect(codeOf(await confirm(access, { password: 'wrong' }))).toBe('AUTH_401004');
      expect(await failures(user.uid)).toBe(0);
    });
  });

  describe('with a passkey', () => {
    it('is both factors: amr gets hwk, user and mfa, and no code is due', async () => {
      const { user, access, authenticator } = await passkeys.givenPasskey();
      old();
      const body = { ...(await assertion(authenticator)), second_factor: true };
      const pair = pairOf(await confirm(access, body));
      expect(decodeJwt(pair.access)).toMatchObject({
        sid: decodeJwt(access).sid,
        amr: ['pwd', 'hwk', 'user', 'mfa'],
      });
      expect(await isYoung(pair.access)).toBe(true);
      expect(await mfa.events(user, 'SESSION_CONFIRMED')).toMatchObject([{ mfa: 'passkey' }]);
      expect(codeOf(await confirm(access, body))).toBe('PASSKEY_401001');
    });

    it('of somebody else is PASSKEY_401001, is logged for the caller, and its challenge can still be used', async () => {
      const owner = await passkeys.givenPasskey();
      const thief = await given();
      const body = await assertion(owner.authenticator);
      expect(codeOf(await confirm(thief.access, body))).toBe('PASSKEY_401001');
      expect((await logsOf(thief.user.uid)).at(-1)).toMatchObject({ mfa: 'passkey', outcome: 'PASSKEY_401001' });
      expect(await failures(thief.user.uid)).toBe(0);
      expect(codeOf(await confirm(owner.access, body))).toBe('success');
    });

    it('of a user of an identity provider is PASSKEY_401001, and the session stays old', async () => {
      const { user, access, authenticator } = await passkeys.givenPasskey();
      old();
      await mfa.service.database.affected(
        "UPDATE users SET provider = 'oidc', identity_provider_id = 'acme' WHERE uid = ?",
        [user.uid],
      );
      expect(codeOf(await confirm(access, await assertion(authenticator)))).toBe('PASSKEY_401001');
      expect(await isYoung(access)).toBe(false);
    });

    it('of a user who is disabled, locked or logged out opens nothing', async () => {
      const { user, access, authenticator } = await passkeys.givenPasskey();
      for (let n = 0; n < 3; n++) await mfa.service.login(user.loginName, 'wrong');
      expect(codeOf(await confirm(access, await assertion(authenticator)))).toBe('LOGIN_401004');
      await mfa.service.post('/logout', undefined, { bearer: access });
      expect(codeOf(await confirm(access, await assertion(authenticator)))).toBe('AUTH_401004');
    });

    it('with PASSKEYS=off every assertion is PASSKEY_401001', async () => {
      await MfaClient.with({ PASSKEYS: 'off', MFA_REQUIRED: 'false' }, async (client) => {
        const { access } = await given({}, client);
        const body = { challenge_id: foreignId, response: {} };
        expect((await confirm(access, body, client)).body).toEqual(refused('PASSKEY_401001'));
      });
    });
  });

  describe('where a code is due', () => {
    const pending = async (bearer: string, body: Record<string, unknown> = { second_factor: true }, client = mfa) => {
      client.service.clock.advanceSeconds(61);
      const { data } = dataOf(await confirm(bearer, { password, ...body }, client));
      expect(data).toMatchObject({ access_token: null, refresh_token: null, mfa_required: true });
      return { uid: data.user_info.uid as string, mfa_token: data.mfa_token as string };
    };
    const sessionOf = (answer: Answer) => decodeJwt(pairOf(answer).access);

    it('second_factor: a mailed code finishes the same session, with otp', async () => {
      const { user, access, refresh: former } = await given();
      old();
      const { uid, mfa_token } = await pending(access);
      expect(await isYoung(access)).toBe(false);
      const answer = await mfa.verify(uid, 'email', await mfa.lastCode(user), { mfa_token });
      expect(sessionOf(answer)).toMatchObject({ sid: decodeJwt(access).sid, amr: ['pwd', 'otp'] });
      expect(await isYoung(pairOf(answer).access)).toBe(true);
      expect(await refresh(former)).toBe('AUTH_401006');
      expect(await mfa.events(user, 'SESSION_CONFIRMED')).toMatchObject([{ mfa: 'email' }]);
      expect(codeOf(await mfa.verify(uid, 'email', await mfa.lastCode(user), { mfa_token }))).toBe('MFA_401001');
    });

    it('the code can be sent again', async () => {
      const { user, access } = await given();
      const { uid, mfa_token } = await pending(access);
      const first = await mfa.lastCode(user);
      mfa.service.clock.advanceSeconds(61);
      expect((await mfa.resend(uid, 'email', { mfa_token })).status).toBe(200);
      const code = await mfa.lastCode(user);
      if (code !== first) expect(codeOf(await mfa.verify(uid, 'email', first, { mfa_token }))).toBe('MFA_401001');
      expect(codeOf(await mfa.verify(uid, 'email', code, { mfa_token }))).toBe('success');
    });

    it('an authenticator, and a recovery code in its place', async () => {
      const { user, access } = await given();
      const { secret } = await mfa.newSecret(access);
      const enrolled = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access }));
      const { codes } = dataOf(await mfa.service.post('/recovery-codes', undefined, { bearer: enrolled.access })).data;
      old();
      const one = await pending(access);
      const right = await mfa.verify(one.uid, 'totp', mfa.code(secret), { mfa_token: one.mfa_token });
      expect(sessionOf(right)).toMatchObject({ sid: decodeJwt(access).sid, amr: ['pwd', 'otp'] });
      const two = await pending(access);
      const rescued = await mfa.verify(two.uid, 'recovery', codes[0], { mfa_token: two.mfa_token });
      expect(sessionOf(rescued)).toMatchObject({ sid: decodeJwt(access).sid });
      // A password alone keeps what the session has proven.
      expect(sessionOf(await confirm(access, { password }))).toMatchObject({ amr: ['pwd', 'otp'] });
    });

    it('with MFA_REQUIRED a code is due after the password, as at a login', async () => {
      await MfaClient.with({ RATE_LIMIT: 'off' }, async (client) => {
        const user = await client.givenUser('required');
        const { access } = await client.session(user);
        const { uid, mfa_token } = await pending(access, {}, client);
        const answer = await client.verify(uid, 'email', await client.lastCode(user), { mfa_token });
        expect(sessionOf(answer)).toMatchObject({ sid: decodeJwt(access).sid });
      });
    });

    it('a session of a trusted device has to prove the factor of the account, and no longer counts as one of a device', async () => {
      await MfaClient.with({ RATE_LIMIT: 'off', MFA_TRUSTED_DEVICE_DAYS: '30' }, async (client) => {
        const { user, secret } = await client.givenAuthenticator('trusting');
        const open = await client.logIn('trusting');
        const { body } = await client.verify(open.uid, 'totp', client.code(secret), {
          ...{ mfa_token: open.mfaToken, trust_device: true },
        });
        const { device_token } = body.data;
        const { access } = pairOf(await client.service.login('trusting', password, { device_token }));
        expect(decodeJwt(access).amr).toEqual(['pwd', 'device']);
        expect(await isYoung(access, client)).toBe(false);
        const { uid, mfa_token } = await pending(access, {}, client);
        const answer = await client.verify(uid, 'totp', client.code(secret), { mfa_token });
        expect(sessionOf(answer)).toMatchObject({ sub: user.uid, amr: ['pwd', 'otp'] });
        expect(await isYoung(pairOf(answer).access, client)).toBe(true);
      });
    });

    it('a user whom no code can reach is told so with AUTH_403001, and the right password is not counted', async () => {
      const { user, access } = await given({ email: null });
      expect(codeOf(await confirm(access, { password, second_factor: true }))).toBe('AUTH_403001');
      expect(codeOf(await confirm(access, { password: 'wrong', second_factor: true }))).toBe('LOGIN_401001');
      const { codes } = dataOf(await mfa.service.post('/recovery-codes', undefined, { bearer: access })).data;
      const { uid, mfa_token } = await pending(access);
      expect(codeOf(await mfa.verify(uid, 'recovery', codes[0], { mfa_token }))).toBe('success');
      expect(user.uid).toBe(uid);
    });

    it('within the cooldown of the mail it is MFA_429001 with retry_after, and the former code stays valid', async () => {
      const { user, access } = await given();
      const { uid, mfa_token } = await pending(access);
      const { body } = await confirm(access, { password, second_factor: true });
      expect(body).toMatchObject({ error_code: 'MFA_429001', data: { retry_after: expect.any(Number) } });
      expect(codeOf(await mfa.verify(uid, 'email', await mfa.lastCode(user), { mfa_token }))).toBe('success');
    });

    it('a session that has ended meanwhile gets no token: the code is answered as for an ended login (T406)', async () => {
      const { user, name, access } = await given();
      const { uid, mfa_token } = await pending(access);
      const elsewhere = await mfa.service.session(name);
      await mfa.service.send('DELETE', `/user/sessions/${String(decodeJwt(access).sid)}`, undefined, {
        bearer: elsewhere.access,
      });
      const before = await mfa.tokens(user);
      const answer = await mfa.verify(uid, 'email', await mfa.lastCode(user), { mfa_token });
      expect(codeOf(answer)).toBe('MFA_401001');
      expect(await mfa.tokens(user)).toBe(before);
    });

    it.each(['owner', 'none'])(
      'without its mfa_token nobody finishes it, from the same address and with MFA_PENDING_BINDING=%s (T405)',
      async (binding) => {
        await MfaClient.with({ MFA_REQUIRED: 'false', MFA_PENDING_BINDING: binding }, async (client) => {
          const { user, access } = await given({}, client);
          const { uid, mfa_token } = await pending(access, { second_factor: true }, client);
          const code = await client.lastCode(user);
          expect(codeOf(await client.verify(uid, 'email', code))).toBe('MFA_401001');
          expect(codeOf(await client.verify(uid, 'email', code, { mfa_token: 'x'.repeat(43) }))).toBe('MFA_401001');
          expect(codeOf(await client.resend(uid, 'email'))).toBe('MFA_401001');
          expect(codeOf(await client.verify(uid, 'email', code, { mfa_token }))).toBe('success');
        });
      },
    );

    it('a login by a thief of the password replaces it, and neither finishes the session of the other (T404)', async () => {
      await MfaClient.with({ RATE_LIMIT: 'off' }, async (client) => {
        const user = await client.givenUser('watched');
        const { access } = await client.session(user);
        const own = await pending(access, {}, client);
        const ownCode = await client.lastCode(user);
        client.service.clock.advanceSeconds(61);
        const thief = await client.logIn('watched', { ip: '203.0.113.66' });
        const code = await client.lastCode(user);
        // The owner types the code of the newest mail: it belongs to the login of the thief.
        for (const typed of [code, ownCode]) {
          expect(codeOf(await client.verify(own.uid, 'email', typed, { mfa_token: own.mfa_token }))).toBe('MFA_401001');
        }
        const opened = await client.verify(own.uid, 'email', code, { mfa_token: thief.mfaToken });
        expect(decodeJwt(pairOf(opened).access).sid).not.toBe(decodeJwt(access).sid);
        expect(await client.events(user, 'SESSION_CONFIRMED')).toEqual([]);
        client.service.clock.advanceSeconds(61);
        // The other way round: the confirmation replaces the login.
        const again = await client.logIn('watched', { ip: '203.0.113.66' });
        const mine = await pending(access, {}, client);
        const newest = await client.lastCode(user);
        const stolen = { mfa_token: again.mfaToken };
        expect(codeOf(await client.verify(mine.uid, 'email', newest, stolen, { ip: '203.0.113.66' }))).toBe(
          'MFA_401001',
        );
        expect(sessionOf(await client.verify(mine.uid, 'email', newest, { mfa_token: mine.mfa_token }))).toMatchObject({
          sid: decodeJwt(access).sid,
        });
      });
    });

    it('a login at a replica of 1.0.0, which leaves the sid in the row, opens a session of its own (T404)', async () => {
      await MfaClient.with({ RATE_LIMIT: 'off' }, async (client) => {
        const user = await client.givenUser('upgraded');
        const { access } = await client.session(user);
        const own = await pending(access, {}, client);
        const { sid } = await client.row('pending_logins', user);
        expect(sid).toBe(decodeJwt(access).sid);
        client.service.clock.advanceSeconds(61);
        const login = await client.logIn('upgraded', { ip: '203.0.113.66' });
        // This version empties the column. Version 1.0.0 does not know it.
        const leave = 'UPDATE pending_logins SET sid = ? WHERE user_id = ?';
        await client.service.database.affected(leave, [sid as string, user.uid]);
        const code = await client.lastCode(user);
        expect(codeOf(await client.verify(own.uid, 'email', code, { mfa_token: own.mfa_token }))).toBe('MFA_401001');
        const opened = await client.verify(own.uid, 'email', code, { mfa_token: login.mfaToken });
        expect(sessionOf(opened).sid).not.toBe(sid);
        expect(await client.events(user, 'SESSION_CONFIRMED')).toEqual([]);
      });
    });

    it('wrong codes are counted and logged like those of a login', async () => {
      const { user, access } = await given();
      const { uid, mfa_token } = await pending(access);
      const code = await mfa.lastCode(user);
      for (let n = 1; n <= 5; n++) {
        expect(codeOf(await mfa.verify(uid, 'email', wrongCode(code, n), { mfa_token }))).toBe('MFA_401001');
      }
      expect(codeOf(await mfa.verify(uid, 'email', code, { mfa_token }))).toBe('MFA_401001');
      expect((await logsOf(user.uid)).at(-1)).toMatchObject({ mfa: 'email', outcome: 'MFA_401001' });
      expect(codeOf(await mfa.service.get('/user/me', { bearer: access }))).toBe('success');
    });
  });

  describe('with rotation', () => {
    let rotating: MfaClient;
    beforeAll(async () => {
      rotating = await MfaClient.start({ ...settings, MFA_REQUIRED: 'false', REFRESH_TOKEN_ROTATION: 'true' });
    });
    afterAll(() => rotating.stop());
    const rotate = (bearer: string) => rotating.service.post('/refresh', undefined, { bearer });
    const reuses = (uid: string) =>
      rotating.service.count('audit_logs', "user_id = ? AND event = 'REFRESH_TOKEN_REUSED'", [uid]);

    it('a second tab that refreshes with the former token gets the new one, and the session lives', async () => {
      const { user, access, refresh: first } = await given({}, rotating);
      const second = pairOf(await rotate(first));
      const confirmed = pairOf(await confirm(access, { password }, rotating));
      // A late tab knows the token before the last one. An answer of a refresh got lost in another tab.
      for (const former of [first, second.refresh]) {
        const tab = pairOf(await rotate(former));
        expect(decodeJwt(tab.refresh).jti).toBe(decodeJwt(confirmed.refresh).jti);
      }
      expect(await reuses(user.uid)).toBe(0);
      expect(codeOf(await rotate(confirmed.refresh))).toBe('success');
    });

    it('after the grace period the former token is a reuse, which ends the session', async () => {
      const { user, access, refresh: first } = await given({}, rotating);
      const confirmed = pairOf(await confirm(access, { password }, rotating));
      rotating.service.clock.advanceSeconds(61);
      expect(codeOf(await rotate(first))).toBe('AUTH_401006');
      expect(await reuses(user.uid)).toBe(1);
      expect(codeOf(await rotate(confirmed.refresh))).toBe('AUTH_401006');
    });
  });

  it('nothing of a confirmation reaches a log, an audit row or an event', async () => {
    const { user, access } = await given();
    const { data } = dataOf(await confirm(access, { password }));
    await confirm(access, { password: 'a-wrong-Passw0rd' });
    const texts = JSON.stringify([
      mfa.service.logLines,
      await mfa.service.database.rows('SELECT * FROM audit_logs WHERE user_id = ?', [user.uid]),
      await mfa.service.database.rows('SELECT * FROM login_logs WHERE user_id = ?', [user.uid]),
    ]);
    for (const secret of [password, 'a-wrong-Passw0rd', data.access_token, data.refresh_token]) {
      expect(texts).not.toContain(secret as string);
    }
  });
});
