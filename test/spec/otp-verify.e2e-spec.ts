import { decodeJwt } from 'jose';
import { tally, TestService } from '../support/app';
import { MfaClient, mfaSettings, pairOf, wrongCode } from '../support/mfa';
import { dataKey } from '../support/settings';

const absentUid = '00000000-0000-4000-8000-000000000000';

describe('POST /otp-verify, type email', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  it('T262 T051 the right code is answered with a token pair, and the rows of the tokens and of the login log are written', async () => {
    const user = await mfa.givenUser('t051');
    const { uid, code } = await mfa.logInByMail(user);
    const answer = await mfa.verify(uid, 'email', code);
    expect(answer.body).toEqual({
      status: true,
      data: {
        result: true,
        access_token: expect.any(String),
        refresh_token: expect.any(String),
        device_token: null,
      },
    });
    const { access } = pairOf(answer);
    expect(decodeJwt(access).amr).toEqual(['pwd', 'otp']);
    expect((await mfa.service.get('/user/me', { bearer: access })).body.data.uid).toBe(uid);
    expect(await mfa.tokens(user)).toBe(2);
    const logs = await mfa.service.database.rows('SELECT outcome, mfa FROM login_logs WHERE user_id = ?', [uid]);
    expect(logs).toEqual([{ outcome: 'success', mfa: 'email' }]);
  });

  it('T052 a wrong code is answered with MFA_401001, issues no token, and is logged and audited', async () => {
    const user = await mfa.givenUser('t052');
    const { uid, code } = await mfa.logInByMail(user);
    const answer = await mfa.verify(uid, 'email', wrongCode(code));
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'MFA_401001' } });
    expect(await mfa.tokens(user)).toBe(0);
    const logs = await mfa.service.database.rows('SELECT outcome, mfa FROM login_logs WHERE user_id = ?', [uid]);
    expect(logs).toEqual([{ outcome: 'MFA_401001', mfa: 'email' }]);
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toEqual([{ type: 'email', purpose: 'login' }]);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });

  it('T190 without a uid, or with one that is no text, a valid code of the first user opens nothing', async () => {
    await MfaClient.with({}, async (client) => {
      const admin = await client.givenUser('adm', { isAdmin: true });
      const { uid, mfaToken, code } = await client.logInByMail(admin);
      for (const wrong of [undefined, null, [], {}, '', ' ', 0, true, [uid], { uid }, { $ne: null }]) {
        for (const more of [{}, { mfa_token: mfaToken }]) {
          const answer = await client.verify(wrong, 'email', code, more);
          expect([400, 401]).toContain(answer.status);
          expect(answer.raw.toString()).not.toContain('access_token');
        }
      }
      expect(await client.tokens(admin)).toBe(0);
      // Nothing of this has used up the code.
      expect((await client.verify(uid, 'email', code)).status).toBe(200);
    });
  });

  it('T057 the right code works once', async () => {
    const user = await mfa.givenUser('t057');
    const { uid, code } = await mfa.logInByMail(user);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
    expect((await mfa.verify(uid, 'email', code)).body.error_code).toBe('MFA_401001');
    expect(await mfa.tokens(user)).toBe(2);
  });

  it('T058 of 20 parallel requests with the right code one gets a token pair', async () => {
    const user = await mfa.givenUser('t058');
    const { uid, code } = await mfa.logInByMail(user);
    const answers = await Promise.all(Array.from({ length: 20 }, () => mfa.verify(uid, 'email', code)));
    expect(tally(answers)).toEqual({ success: 1, MFA_401001: 19 });
    expect(await mfa.tokens(user)).toBe(2);
  });

  it('T059 five wrong codes end the pending login: the right code is refused, and a new login works', async () => {
    const user = await mfa.givenUser('t059');
    const { uid, code } = await mfa.logInByMail(user);
    for (let n = 1; n <= 5; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
    expect((await mfa.verify(uid, 'email', code)).body.error_code).toBe('MFA_401001');
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(5);
    expect(await mfa.events(user, 'MFA_BUDGET_EXHAUSTED')).toEqual([
      { type: 'email', purpose: 'login', budget: 'login' },
    ]);
    const again = await mfa.logInByMail(user);
    expect((await mfa.verify(uid, 'email', again.code)).status).toBe(200);
  });

  it('of 200 parallel wrong codes five are compared, and the right code is refused afterwards', async () => {
    const user = await mfa.givenUser('burst');
    const { uid, code } = await mfa.logInByMail(user);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => mfa.verify(uid, 'email', wrongCode(code, n + 1))),
    );
    expect(tally(answers)).toEqual({ MFA_401001: 200 });
    expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(5);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(401);
    expect((await mfa.service.userRow(uid)).mfa_failed_count).toBe(5);
  });

  describe('T061 the attempts of the account over several logins', () => {
    it('ten wrong codes block all codes for 900 s, neither a login nor a resend ends the block, and then the count starts at 0', async () => {
      const user = await mfa.givenUser('t061');
      for (let login = 0; login < 2; login++) {
        const { uid, code } = await mfa.logInByMail(user);
        for (let n = 1; n <= 5; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
      }
      expect(await mfa.events(user, 'MFA_BUDGET_EXHAUSTED')).toContainEqual({
        type: 'email',
        purpose: 'login',
        budget: 'account',
        blocked_seconds: 900,
      });
      const blocked = await mfa.logInByMail(user);
      expect((await mfa.verify(user.uid, 'email', blocked.code)).body.error_code).toBe('MFA_401001');
      mfa.service.clock.advanceSeconds(61);
      expect((await mfa.resend(user.uid)).status).toBe(200);
      expect((await mfa.verify(user.uid, 'email', await mfa.lastCode(user))).body.error_code).toBe('MFA_401001');
      expect(await mfa.tokens(user)).toBe(0);

      mfa.service.clock.advanceSeconds(900);
      const { code } = await mfa.logInByMail(user);
      for (let n = 1; n <= 4; n++) await mfa.verify(user.uid, 'email', wrongCode(code, n));
      expect((await mfa.service.userRow(user.uid)).mfa_failed_count).toBe(4);
      expect((await mfa.verify(user.uid, 'email', code)).status).toBe(200);
    });

    it('the block ends after exactly 900 s', async () => {
      const user = await mfa.givenUser('exact');
      for (let login = 0; login < 2; login++) {
        const { uid, code } = await mfa.logInByMail(user);
        for (let n = 1; n <= 5; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
      }
      mfa.service.clock.advanceSeconds(899);
      await mfa.logIn('exact');
      const code = await mfa.lastCode(user);
      expect((await mfa.verify(user.uid, 'email', code)).status).toBe(401);
      mfa.service.clock.advanceSeconds(1);
      expect((await mfa.verify(user.uid, 'email', code)).status).toBe(200);
    });

    it('an accepted code clears the count', async () => {
      const user = await mfa.givenUser('cleared');
      for (let login = 0; login < 3; login++) {
        const { uid, code } = await mfa.logInByMail(user);
        for (let n = 1; n <= 4; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
        expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
        expect((await mfa.service.userRow(uid)).mfa_failed_count).toBe(0);
      }
    });

    it('the tenth attempt is still compared: a right code logs in and starts no block', async () => {
      const user = await mfa.givenUser('tenth');
      const first = await mfa.logInByMail(user);
      for (let n = 1; n <= 5; n++) await mfa.verify(user.uid, 'email', wrongCode(first.code, n));
      const { code } = await mfa.logInByMail(user);
      for (let n = 1; n <= 4; n++) await mfa.verify(user.uid, 'email', wrongCode(code, n));
      expect((await mfa.verify(user.uid, 'email', code)).status).toBe(200);
      expect(await mfa.service.userRow(user.uid)).toMatchObject({ mfa_failed_count: 0, mfa_blocked_until: null });
    });

    it('T062 the block affects neither another user nor the count of wrong passwords', async () => {
      const [user, other] = [await mfa.givenUser('t062'), await mfa.givenUser('t062b')];
      for (let login = 0; login < 2; login++) {
        const { uid, code } = await mfa.logInByMail(user);
        for (let n = 1; n <= 5; n++) await mfa.verify(uid, 'email', wrongCode(code, n));
      }
      expect((await mfa.service.userRow(user.uid)).login_failed_count).toBe(0);
      const { uid, code } = await mfa.logInByMail(other);
      expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
    });
  });

  it('T063 a code older than OTP_TTL_SECONDS is refused', async () => {
    const user = await mfa.givenUser('t063');
    const { uid, code } = await mfa.logInByMail(user);
    mfa.service.clock.advanceSeconds(301);
    expect((await mfa.verify(uid, 'email', code)).body.error_code).toBe('MFA_401001');
  });

  describe('without a pending login', () => {
    it('T064 the code of an old mail is refused', async () => {
      const user = await mfa.givenUser('t064');
      const { uid, code } = await mfa.logInByMail(user);
      await mfa.verify(uid, 'email', code);
      const tokens = await mfa.tokens(user);
      mfa.service.clock.advanceSeconds(61);
      expect((await mfa.verify(uid, 'email', code)).status).toBe(401);
      expect(await mfa.tokens(user)).toBe(tokens);
    });

    it.each(['email', 'totp'])(
      'T066 a known uid is answered like an unknown or a malformed one, and nothing is counted (%s)',
      async (type) => {
        const user = await mfa.givenUser(`t066-${type}`);
        const answers = [];
        for (const uid of [user.uid, absentUid, 'x', '', user.uid.toUpperCase(), `${user.uid} `]) {
          const { status, body } = await mfa.verify(uid, type, '123456');
          answers.push({ status, body });
        }
        const code = type === 'email' ? 'MFA_401001' : 'AUTH_MFA_401001';
        expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
        expect(answers[0]).toMatchObject({ status: 401, body: { error_code: code } });
        expect((await mfa.service.userRow(user.uid)).mfa_failed_count).toBe(0);
        expect(await mfa.service.count('login_logs', 'user_id = ?', [user.uid])).toBe(0);
        expect(await mfa.service.count('audit_logs', 'user_id = ?', [user.uid])).toBe(0);
      },
    );
  });

  it('W51 a code of the wrong type is answered with the error code of that type and costs no attempt', async () => {
    const user = await mfa.givenUser('w51');
    const { uid, code } = await mfa.logInByMail(user);
    for (let n = 0; n < 6; n++) expect((await mfa.verify(uid, 'totp', code)).body.error_code).toBe('AUTH_MFA_401001');
    expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
  });

  describe('the owner of a pending login', () => {
    it('a stranger who knows the uid can neither use the pending login nor use up its attempts', async () => {
      const user = await mfa.givenUser('owner');
      const { uid, code, mfaToken } = await mfa.logInByMail(user);
      const stranger = { ip: '198.51.100.7' };
      for (let n = 0; n < 6; n++) expect((await mfa.verify(uid, 'email', code, {}, stranger)).status).toBe(401);
      for (const mfa_token of ['', 'x', 'A'.repeat(43), `${mfaToken} `]) {
        expect((await mfa.verify(uid, 'email', code, { mfa_token }, stranger)).body.error_code).toBe('MFA_401001');
        // Also from the right address a wrong token is refused.
        expect((await mfa.verify(uid, 'email', code, { mfa_token })).body.error_code).toBe('MFA_401001');
      }
      expect(await mfa.row('pending_logins', user)).toMatchObject({ attempts: 0, is_closed: 0 });
      expect((await mfa.service.userRow(uid)).mfa_failed_count).toBe(0);
      expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
    });

    it('the mfa_token is accepted from any address', async () => {
      const user = await mfa.givenUser('roaming');
      const { uid, code, mfaToken } = await mfa.logInByMail(user);
      const answer = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken }, { ip: '198.51.100.7' });
      expect(answer.status).toBe(200);
    });

    it('the mfa_token of another user is refused', async () => {
      const [user, other] = [await mfa.givenUser('mixed'), await mfa.givenUser('mixed-other')];
      const theirs = await mfa.logInByMail(other);
      const { uid, code } = await mfa.logInByMail(user);
      expect((await mfa.verify(uid, 'email', code, { mfa_token: theirs.mfaToken })).status).toBe(401);
    });
  });

  describe('events that end a pending login', () => {
    it.each([
      ['disabled', 'UPDATE users SET status = -1 WHERE uid = ?'],
      [
        'given another password, revoked or disabled and enabled again',
        'UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?',
      ],
    ])('T069 a user who is %s between login and code gets no token', async (what, change) => {
      const user = await mfa.givenUser(`t069-${what.slice(0, 5)}`);
      const { uid, code } = await mfa.logInByMail(user);
      await mfa.service.database.affected(change, [uid]);
      expect((await mfa.verify(uid, 'email', code)).body.error_code).toBe('MFA_401001');
      expect((await mfa.resend(uid)).body.error_code).toBe('MFA_401001');
      expect(await mfa.tokens(user)).toBe(0);
    });
  });

  it('T097 a code is not accepted a second time when the clock is set back', async () => {
    const user = await mfa.givenUser('t097');
    const { uid, code } = await mfa.logInByMail(user);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(200);
    mfa.service.clock.advanceSeconds(-90);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(401);
    mfa.service.clock.advanceSeconds(90);
    expect((await mfa.verify(uid, 'email', code)).status).toBe(401);
    expect(await mfa.tokens(user)).toBe(2);
  });

  describe('malformed input', () => {
    it.each([
      '12345',
      '1234567',
      '',
      ' 123456',
      '123456 ',
      '123456\n',
      '１２３４５６',
      '0x1E240',
      '1e5',
      '-12345',
      '12345a',
      '0'.repeat(9000),
    ])('T095 the malformed code %p is refused and costs one attempt', async (code) => {
      const user = await mfa.givenUser(`t095-${Buffer.from(code).toString('hex').slice(0, 40)}`);
      const open = await mfa.logInByMail(user);
      expect((await mfa.verify(open.uid, 'email', code)).body.error_code).toBe('MFA_401001');
      expect((await mfa.row('pending_logins', user)).attempts).toBe(1);
      expect((await mfa.verify(open.uid, 'email', open.code)).status).toBe(200);
    });

    it.each([
      [[-1]],
      [[123456]],
      [[null]],
      [[true]],
      [[{ length: 6 }]],
      [[Array.from({ length: 1000 }, (_, n) => String(n).padStart(6, '0'))]],
    ])('T096 a code that is not a string is answered with COMMON_400001 and costs no attempt', async ([code]) => {
      const user = await mfa.givenUser(`t096-${typeof code}-${JSON.stringify(code).length}`);
      const { uid } = await mfa.logInByMail(user);
      expect(await mfa.verify(uid, 'email', code)).toMatchObject({
        status: 400,
        body: { error_code: 'COMMON_400001', data: { fields: { code: [expect.any(String)] } } },
      });
      expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
    });

    it.each([
      ['uid', { uid: ['x'], type: 'email', code: '123456' }],
      ['uid', { type: 'email', code: '123456' }],
      ['type', { uid: absentUid, type: 'sms', code: '123456' }],
      ['type', { uid: absentUid, type: ['email'], code: '123456' }],
      ['code', { uid: absentUid, type: 'email' }],
      ['mfa_token', { uid: absentUid, type: 'email', code: '123456', mfa_token: 1 }],
    ])('a malformed %s is answered with COMMON_400001', async (field, body) => {
      const answer = await mfa.service.post('/otp-verify', body);
      expect(answer.status).toBe(400);
      expect(Object.keys(answer.body.data.fields as object)).toEqual([field]);
    });
  });
});

describe('OTP_TTL_SECONDS', () => {
  it('a code expires before its pending login, which then accepts a new code', () =>
    MfaClient.with({ OTP_TTL_SECONDS: '90' }, async (mfa) => {
      const user = await mfa.givenUser('short');
      const { uid, code } = await mfa.logInByMail(user);
      mfa.service.clock.advanceSeconds(90);
      expect((await mfa.verify(uid, 'email', code)).status).toBe(401);
      await mfa.resend(uid);
      expect((await mfa.verify(uid, 'email', await mfa.lastCode(user))).status).toBe(200);
    }));
});

describe('MFA_PENDING_BINDING=none', () => {
  it('accepts the code from any client that knows the uid', () =>
    MfaClient.with({ MFA_PENDING_BINDING: 'none' }, async (mfa) => {
      const user = await mfa.givenUser('anybody');
      const { uid, code } = await mfa.logInByMail(user);
      expect((await mfa.verify(uid, 'email', code, {}, { ip: '198.51.100.7' })).status).toBe(200);
    }));
});

describe('DATA_ENCRYPTION_KEY in rotation', () => {
  it('a code that was stored under the former key is still accepted', async () => {
    const [older, newer] = [dataKey(7), dataKey(9)];
    await MfaClient.with({ DATA_ENCRYPTION_KEY: older }, async (before) => {
      const user = await before.givenUser('rotated');
      const { uid, code } = await before.logInByMail(user);
      const { clock, store } = before.service;
      const settings = { ...mfaSettings, DATA_ENCRYPTION_KEY: `${newer},${older}` };
      const after = new MfaClient(await TestService.start(settings, { clock, store }));
      const answer = await after.verify(uid, 'email', code).finally(() => after.service.stop({ keepStore: true }));
      expect(answer.status).toBe(200);
    });
  });
});
