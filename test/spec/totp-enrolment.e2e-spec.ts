import { create } from 'qrcode';
import { MfaClient, pairOf } from '../support/mfa';
import { modulesOf } from '../support/qr-picture';

const absentUid = '00000000-0000-4000-8000-000000000000';
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

describe('enrolling an authenticator', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start({ TOTP_ISSUER: 'Acme & Söhne' });
  });
  afterAll(() => mfa.stop());

  const qr = (uid: string, bearer?: string, ip?: string) => mfa.service.get(`/otp-qrcode/${uid}`, { bearer, ip });
  const given = async (name: string) => {
    const user = await mfa.givenUser(name);
    return { user, ...(await mfa.session(user)) };
  };

  it('a code that was mailed before the authenticator became active opens no session', async () => {
    const { user, access } = await given('mailed-before');
    const { secret } = await mfa.newSecret(access);
    mfa.service.clock.advanceSeconds(61);
    const { uid, mfaToken } = await mfa.logIn(user.loginName);
    const code = await mfa.lastCode(user);
    pairOf(await mfa.verify(uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    const answer = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken });
    expect(answer).toMatchObject({ status: 401, body: { error_code: 'MFA_401001' } });
  });

  it('T077 answers with a Base32 secret of 160 bits and its URI, and stores both encrypted', async () => {
    const { user, access } = await given('t077');
    const { secret, uri } = await mfa.newSecret(access);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const parsed = new URL(uri);
    expect(uri).toMatch(/^otpauth:\/\/totp\//);
    expect(decodeURIComponent(parsed.pathname)).toContain('Acme & Söhne:t077');
    expect(Object.fromEntries(parsed.searchParams)).toEqual({
      secret,
      issuer: 'Acme & Söhne',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    const row = await mfa.row('totp_secrets', user);
    expect(row).toMatchObject({ confirmed_at: null, fetched: 0, attempts: 0 });
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(await mfa.service.userRow(user.uid)).toMatchObject({ topt_secret: null, mfa_type: 'email' });
    expect(await mfa.events(user, 'TOTP_ENROLMENT_OPENED')).toHaveLength(1);
  });

  it('T090 T078 the QR code is a PNG of exactly this URI', async () => {
    const { user, access } = await given('t078');
    const { uri } = await mfa.newSecret(access);
    const answer = await qr(user.uid, access);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.raw.subarray(0, 8)).toEqual(png);
    const expected = create(uri, { errorCorrectionLevel: 'M' }).modules;
    expect(modulesOf(answer.raw)).toEqual(
      Array.from({ length: expected.size }, (_, y) =>
        Array.from({ length: expected.size }, (_, x) => (expected.get(y, x) ? 1 : 0)).join(''),
      ),
    );
  });

  it('T079 the first right code is answered with a token pair and activates the secret', async () => {
    const { user, access } = await given('t079');
    const { secret } = await mfa.newSecret(access);
    const pair = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access }));
    expect((await mfa.service.get('/user/me', { bearer: pair.access })).body.data).toMatchObject({
      mfa_type: 'totp',
      session: { amr: ['pwd', 'otp'] },
    });
    const row = await mfa.service.userRow(user.uid);
    expect(row.mfa_type).toBe('totp');
    expect(row.topt_secret).toMatch(/^v1\./);
    expect(row.topt_secret).not.toContain(secret);
    expect((await mfa.row('totp_secrets', user)).confirmed_at).not.toBeNull();
    expect(await mfa.events(user, 'TOTP_ENROLLED')).toHaveLength(1);
    expect(await mfa.mails(user, 'totp-changed')).toMatchObject([{ replaced: false, ip: '127.0.0.1' }]);
    mfa.service.clock.advanceSeconds(60);
    await mfa.logIn('t079');
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(200);
  });

  it('five wrong first codes end the enrolment, count for the account and activate nothing', async () => {
    const { user, access } = await given('wrong');
    const { secret } = await mfa.newSecret(access);
    for (let n = 1; n <= 5; n++) {
      const answer = await mfa.verify(user.uid, 'totp', mfa.wrongCode(secret, n), {}, { bearer: access });
      expect(answer.body.error_code).toBe('AUTH_MFA_401001');
    }
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(401);
    expect((await qr(user.uid, access)).body.error_code).toBe('MFA_404001');
    expect(await mfa.service.userRow(user.uid)).toMatchObject({ topt_secret: null, mfa_failed_count: 5 });
    const again = await mfa.newSecret(access);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(again.secret), {}, { bearer: access })).status).toBe(200);
  });

  it('of ten parallel requests with the first code one confirms the enrolment', async () => {
    const { user, access } = await given('parallel');
    const { secret } = await mfa.newSecret(access);
    const before = await mfa.tokens(user);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await mfa.tokens(user)).toBe(before + 2);
    expect(await mfa.events(user, 'TOTP_ENROLLED')).toHaveLength(1);
  });

  describe('T091 who may start an enrolment', () => {
    it('a client without a valid access token is refused', async () => {
      const { user, access, refresh } = await given('t091');
      const attempt = async (bearer?: string) =>
        (await mfa.service.post('/totp-secret', {}, { bearer })).body.error_code;
      expect(await attempt()).toBe('AUTH_401001');
      expect(await attempt('x.y.z')).toBe('AUTH_401001');
      expect(await attempt(refresh)).toBe('AUTH_401001');
      await mfa.service.post('/logout', {}, { bearer: access });
      expect(await attempt(access)).toBe('AUTH_401004');
      const other = await mfa.session(user);
      mfa.service.clock.advanceSeconds(901);
      expect(await attempt(other.access)).toBe('AUTH_401002');
      expect(await mfa.service.count('totp_secrets', 'user_id = ?', [user.uid])).toBe(0);
    });

    it('T092 a uid in the body is ignored', async () => {
      const { user, access } = await given('t092');
      const other = await mfa.givenUser('t092-other');
      await mfa.newSecret(access, { uid: other.uid, user_id: other.uid });
      expect(await mfa.service.count('totp_secrets', 'user_id = ?', [other.uid])).toBe(0);
      expect(await mfa.service.count('totp_secrets', 'user_id = ?', [user.uid])).toBe(1);
    });

    it.each([[{ code: 1 }], [{ code: ['123456'] }]])(
      'a malformed body is answered with COMMON_400001 (%j)',
      async (body) => {
        const { access } = await given(`body-${JSON.stringify(body).length}`);
        expect((await mfa.service.post('/totp-secret', body, { bearer: access })).body.error_code).toBe(
          'COMMON_400001',
        );
      },
    );
  });

  describe('W02, W03 who may see the QR code', () => {
    it('only the session that enrols sees the QR code', async () => {
      const { user, access, refresh } = await given('w03');
      await mfa.newSecret(access);
      const { access: foreign } = await given('w03-foreign');
      const { access: otherSession } = await mfa.session(user);
      const refused = [undefined, 'x.y.z', foreign, otherSession, refresh];
      for (const bearer of refused) {
        expect(await qr(user.uid, bearer)).toMatchObject({ status: 404, body: { error_code: 'MFA_404001' } });
        const head = await mfa.service.send('HEAD', `/otp-qrcode/${user.uid}`, undefined, { bearer });
        expect(head.status).toBe(404);
        expect(head.raw).toHaveLength(0);
      }
      expect((await mfa.row('totp_secrets', user)).fetched).toBe(0);
      expect((await qr(user.uid, access)).status).toBe(200);
    });

    it('no other session can confirm the enrolment or use up its attempts', async () => {
      const { user, access } = await given('confirmer');
      const { secret } = await mfa.newSecret(access);
      const { access: foreign } = await given('confirmer-foreign');
      const { access: otherSession } = await mfa.session(user);
      for (const bearer of [undefined, foreign, otherSession]) {
        for (let n = 0; n < 3; n++) {
          const answer = await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer });
          expect(answer.body.error_code).toBe('AUTH_MFA_401001');
        }
      }
      expect((await mfa.row('totp_secrets', user)).attempts).toBe(0);
      expect(await mfa.service.userRow(user.uid)).toMatchObject({ topt_secret: null, mfa_failed_count: 0 });
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
    });

    it('the QR code is shown at most five times', async () => {
      const { user, access } = await given('five');
      const { secret } = await mfa.newSecret(access);
      const answers = await Promise.all(Array.from({ length: 12 }, () => qr(user.uid, access)));
      const shown = answers.filter(({ status }) => status === 200);
      expect(shown).toHaveLength(5);
      // On a busy machine the wait for the row can end with 503. Such a request shows nothing and uses up no view.
      for (const { status } of answers) expect([200, 404, 503]).toContain(status);
      expect((await qr(user.uid, access)).body.error_code).toBe('MFA_404001');
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
    });

    it('T087 a confirmed secret is never shown again, not even to its owner', async () => {
      const { user, access } = await mfa.givenAuthenticator('t087');
      expect((await qr(user.uid)).body.error_code).toBe('MFA_404001');
      expect((await qr(user.uid, access)).body.error_code).toBe('MFA_404001');
      await mfa.logIn('t087');
      expect((await qr(user.uid)).body.error_code).toBe('MFA_404001');
      expect((await qr(user.uid, access)).body.error_code).toBe('MFA_404001');
    });

    it('T088 an unknown uid, a malformed uid and a user who never enrolled get the same answer', async () => {
      const { user, access } = await given('t088');
      const answers = await Promise.all(
        [absentUid, 'x', user.uid, user.uid.toUpperCase()].map(async (uid) =>
          JSON.stringify((await qr(uid, access)).body),
        ),
      );
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toContain('MFA_404001');
    });
  });

  describe('events that end an enrolment', () => {
    const endings: [string, (access: string, uid: string) => Promise<unknown>][] = [
      ['logout', (access) => mfa.service.post('/logout', {}, { bearer: access })],
      ['a disabling', (_, uid) => mfa.service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [uid])],
      [
        'a password reset',
        (_, uid) =>
          mfa.service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
            uid,
          ]),
      ],
      ['its time', () => Promise.resolve(mfa.service.clock.advanceSeconds(300))],
    ];
    it.each(endings)('%s', async (what, end) => {
      const { user, access } = await given(`end-${what.slice(-5).trim()}`);
      const { secret } = await mfa.newSecret(access);
      await end(access, user.uid);
      expect((await qr(user.uid, access)).body.error_code).toBe('MFA_404001');
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(401);
      expect((await mfa.service.userRow(user.uid)).topt_secret).toBeNull();
    });

    it('a newer enrolment, after which only its secret is accepted', async () => {
      const { user, access } = await given('newer');
      const [old, young] = [await mfa.newSecret(access), await mfa.newSecret(access)];
      const former = mfa.codeOnlyOf(old.secret, young.secret);
      expect((await mfa.verify(user.uid, 'totp', former, {}, { bearer: access })).status).toBe(401);
      expect((await mfa.verify(user.uid, 'totp', mfa.code(young.secret), {}, { bearer: access })).status).toBe(200);
    });
  });

  describe('W45 replacing a confirmed secret', () => {
    it('T093 an enrolment that is not confirmed changes nothing: the old secret works, and the new one does not', async () => {
      const { user, secret: old } = await mfa.givenAuthenticator('t093');
      await mfa.logIn('t093');
      const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(old)));
      const { secret: left } = await mfa.newSecret(access);
      mfa.service.clock.advanceSeconds(60);
      await mfa.logIn('t093');
      expect((await mfa.verify(user.uid, 'totp', mfa.codeOnlyOf(left, old))).status).toBe(401);
      expect((await mfa.verify(user.uid, 'totp', mfa.code(old))).status).toBe(200);
      mfa.service.clock.advanceSeconds(301);
      await mfa.logIn('t093');
      expect((await mfa.verify(user.uid, 'totp', mfa.code(old))).status).toBe(200);
      expect(await mfa.events(user, 'TOTP_REPLACED')).toHaveLength(0);
    });

    it('a used time step of the old secret stays used while a new secret is being enrolled', async () => {
      const { user, secret } = await mfa.givenAuthenticator('steps');
      await mfa.logIn('steps');
      const code = mfa.code(secret);
      const { access } = pairOf(await mfa.verify(user.uid, 'totp', code));
      await mfa.newSecret(access);
      await mfa.logIn('steps');
      expect((await mfa.verify(user.uid, 'totp', code)).status).toBe(401);
    });

    it('in a session of less than 300 s the first code activates the new secret, with an audit row and a mail', async () => {
      const { user, secret: old } = await mfa.givenAuthenticator('replace');
      await mfa.logIn('replace');
      const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(old)));
      const { secret } = await mfa.newSecret(access);
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
      expect(await mfa.events(user, 'TOTP_REPLACED')).toHaveLength(1);
      expect((await mfa.mails(user, 'totp-changed')).at(-1)).toMatchObject({ replaced: true });
      mfa.service.clock.advanceSeconds(60);
      await mfa.logIn('replace');
      expect((await mfa.verify(user.uid, 'totp', mfa.codeOnlyOf(old, secret))).status).toBe(401);
      expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(200);
    });

    describe('in a session of 300 s and more', () => {
      const old = async (name: string) => {
        const { user, secret } = await mfa.givenAuthenticator(name);
        await mfa.logIn(name);
        const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(secret)));
        mfa.service.clock.advanceSeconds(300);
        return { user, secret, access };
      };
      const ask = (access: string, body?: unknown) => mfa.service.post('/totp-secret', body, { bearer: access });

      it('a request without a code is answered with AUTH_MFA_401001, and nothing is started or counted', async () => {
        const { user, access } = await old('bare');
        const before = await mfa.row('totp_secrets', user);
        expect((await ask(access)).body.error_code).toBe('AUTH_MFA_401001');
        expect(await mfa.row('totp_secrets', user)).toEqual(before);
        expect((await mfa.service.userRow(user.uid)).mfa_failed_count).toBe(0);
      });

      it('a request with the current code is accepted and uses up the code', async () => {
        const { user, secret, access } = await old('spent');
        const code = mfa.code(secret);
        expect((await ask(access, { code })).status).toBe(200);
        expect((await ask(access, { code })).body.error_code).toBe('AUTH_MFA_401001');
        await mfa.logIn('spent');
        expect((await mfa.verify(user.uid, 'totp', code)).status).toBe(401);
      });

      it('wrong codes count for the account: ten block it, and the right code is refused', async () => {
        const { user, secret, access } = await old('guess');
        for (let n = 1; n <= 10; n++) {
          expect((await ask(access, { code: mfa.wrongCode(secret, n) })).status).toBe(401);
        }
        expect((await ask(access, { code: mfa.code(secret) })).body.error_code).toBe('AUTH_MFA_401001');
        expect(await mfa.events(user, 'MFA_CODE_WRONG')).toHaveLength(10);
        expect(await mfa.events(user, 'MFA_BUDGET_EXHAUSTED')).toEqual([
          { type: 'totp', purpose: 'replacement', budget: 'account', blocked_seconds: 900 },
        ]);
        expect((await mfa.row('totp_secrets', user)).confirmed_at).not.toBeNull();
      });

      it('a refresh of the access token does not make the session younger', async () => {
        const user = await mfa.givenUser('refreshed');
        const { access, refresh } = await mfa.session(user);
        const { secret } = await mfa.newSecret(access);
        await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access });
        mfa.service.clock.advanceSeconds(300);
        const { body } = await mfa.service.post('/refresh', { refresh_token: refresh });
        expect((await ask(body.data.access_token as string)).body.error_code).toBe('AUTH_MFA_401001');
      });
    });
  });

  it('a wrong code during a login and an enrolment costs one attempt of the enrolment only', async () => {
    const { user, secret: old } = await mfa.givenAuthenticator('both');
    await mfa.logIn('both');
    const { access } = pairOf(await mfa.verify(user.uid, 'totp', mfa.code(old)));
    const { secret } = await mfa.newSecret(access);
    mfa.service.clock.advanceSeconds(60);
    await mfa.logIn('both');
    // Wrong for the authenticator of the login as well.
    const ofLogin = [-1, 0, 1].map((steps) => mfa.code(old, steps));
    const wrong = [1, 2, 3, 4].map((n) => mfa.wrongCode(secret, n)).find((code) => !ofLogin.includes(code));
    await mfa.verify(user.uid, 'totp', wrong, {}, { bearer: access });
    expect((await mfa.row('pending_logins', user)).attempts).toBe(0);
    expect((await mfa.row('totp_secrets', user)).attempts).toBe(1);
    expect((await mfa.service.userRow(user.uid)).mfa_failed_count).toBe(1);
    // The code of the login finishes the login, costs the enrolment no attempt, and leaves it open.
    expect((await mfa.verify(user.uid, 'totp', mfa.code(old), {}, { bearer: access })).status).toBe(200);
    expect(await mfa.row('totp_secrets', user)).toMatchObject({ attempts: 1, confirmed_at: null });
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, { bearer: access })).status).toBe(200);
    expect(await mfa.events(user, 'TOTP_REPLACED')).toHaveLength(1);
  });

  it('T074 no secret and no code appears in a log or an audit row', async () => {
    const { user, access } = await given('t074');
    const { secret } = await mfa.newSecret(access);
    const code = mfa.code(secret);
    await qr(user.uid, access);
    await mfa.verify(user.uid, 'totp', code, {}, { bearer: access });
    const traces = [
      mfa.service.logLines,
      await mfa.service.database.rows('SELECT * FROM audit_logs'),
      await mfa.service.database.rows('SELECT * FROM login_logs'),
    ];
    expect(JSON.stringify(traces)).not.toContain(secret);
    expect(JSON.stringify(traces)).not.toContain(`"${code}"`);
  });
});

describe('TOTP_ENROLMENT_BINDING=ip, the literal reading of the specification', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start({ TOTP_ENROLMENT_BINDING: 'ip', MFA_REQUIRED: 'false' });
  });
  afterAll(() => mfa.stop());

  it('both routes work without a token, but only from the address that enrols', async () => {
    const user = await mfa.givenUser('letter');
    const { access } = await mfa.service.session('letter');
    const { secret } = await mfa.newSecret(access);
    const stranger = { ip: '198.51.100.7' };
    expect((await mfa.service.get(`/otp-qrcode/${user.uid}`, stranger)).body.error_code).toBe('MFA_404001');
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret), {}, stranger)).status).toBe(401);
    expect((await mfa.row('totp_secrets', user)).attempts).toBe(0);
    expect((await mfa.service.get(`/otp-qrcode/${user.uid}`)).status).toBe(200);
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(200);
    expect((await mfa.service.get(`/otp-qrcode/${user.uid}`)).body.error_code).toBe('MFA_404001');
  });

  it('a logout ends the enrolment with this setting too', async () => {
    const user = await mfa.givenUser('closed');
    const { access } = await mfa.service.session('closed');
    const { secret } = await mfa.newSecret(access);
    await mfa.service.post('/logout', {}, { bearer: access });
    expect((await mfa.service.get(`/otp-qrcode/${user.uid}`)).body.error_code).toBe('MFA_404001');
    expect((await mfa.verify(user.uid, 'totp', mfa.code(secret))).status).toBe(401);
  });
});
