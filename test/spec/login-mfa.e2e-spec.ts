import { operatorAuthority } from '../../src/admin/authority';
import { UserChanges } from '../../src/admin/user-changes';
import { tally } from '../support/app';
import { MfaClient, mailsStay } from '../support/mfa';

describe('POST /login with MFA_REQUIRED', () => {
  let mfa: MfaClient;
  beforeAll(async () => {
    mfa = await MfaClient.start();
  });
  afterAll(() => mfa.stop());

  it('T050 issues no token, opens a pending login and sends one mail with six digits', async () => {
    const user = await mfa.givenUser('t050', { nickname: 'Fifty' });
    const { status, body } = await mfa.service.login('t050');
    expect(status).toBe(200);
    expect(body.data).toEqual({
      access_token: null,
      refresh_token: null,
      user_info: {
        uid: user.uid,
        login_name: 't050',
        nickname: null,
        email: 't•••@example.com',
        is_admin: null,
        role: null,
        tenant_id: null,
        org_unit_id: null,
      },
      tenants: [],
      org_units: [],
      change_password: false,
      change_uid: null,
      mfa_required: true,
      mfa_type: 'email',
      mfa_token: expect.stringMatching(/^[\w-]{43}$/),
      device_token: null,
    });
    const mails = await mfa.mails(user);
    expect(mails).toEqual([
      {
        kind: 'otp',
        to: 't050@example.com',
        nickname: 't050',
        loginName: 't050',
        language: 'en',
        code: expect.stringMatching(/^[0-9]{6}$/),
        expires: new Date(mfa.now.getTime() + 300_000),
      },
    ]);
    expect(await mfa.tokens(user)).toBe(0);
    expect(await mfa.service.count('login_logs', 'user_id = ?', [user.uid])).toBe(0);
    expect(await mfa.events(user, 'MFA_CODE_SENT')).toHaveLength(1);
  });

  it('T074 neither the code nor the mfa_token is stored or logged in plain text', async () => {
    const user = await mfa.givenUser('t074');
    const { mfaToken } = await mfa.logIn('t074');
    const code = await mfa.lastCode(user);
    const row = await mfa.row('pending_logins', user);
    expect(row.code_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(row)).not.toContain(mfaToken);
    await mfa.verify(user.uid, 'email', '000000' === code ? '000001' : '000000');
    await mfa.verify(user.uid, 'email', code);
    const tables = ['users', 'pending_logins', 'audit_logs', 'login_logs', 'mail_outbox', 'login_tokens'];
    for (const table of tables) {
      const rows = JSON.stringify(await mfa.service.database.rows(`SELECT * FROM ${table}`));
      expect(rows).not.toContain(`"${code}"`);
      expect(rows).not.toContain(mfaToken);
    }
    const log = JSON.stringify(mfa.service.logLines);
    // The digits may be part of a time.
    expect(log).not.toMatch(new RegExp(`(?<![\\w.:-])${code}(?![\\w.:-])`));
    expect(log).not.toContain(mfaToken);
  });

  it('T023 no field, header or cookie of the answer is a token, and nothing in it opens /totp-secret', async () => {
    await mfa.givenUser('t023');
    const { user } = await mfa.givenAuthenticator('t023-totp');
    for (const name of ['t023', user.loginName]) {
      const { status, headers, body } = await mfa.service.login(name);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({ mfa_required: true, access_token: null, refresh_token: null });
      expect(headers).not.toHaveProperty('set-cookie');
      expect(headers).not.toHaveProperty('authorization');
      const texts = [...JSON.stringify(body).matchAll(/"((?:[^"\\]|\\.)+)"/g)].map(([, text]) => String(text));
      expect(texts).toContain(body.data.mfa_token);
      // A token has 20 characters or more in each part. It may stand within a longer text, such as `Bearer …`.
      for (const text of [...texts, ...Object.values(headers).map(String)])
        expect(text).not.toMatch(/[\w-]{20,}\.[\w-]{20,}\.[\w-]{20,}/);
      // Sent as tokens here, and no secrets: names of fields, the uid.
      mfa.service.secrets.allow(...texts.filter((one) => one !== body.data.mfa_token));
      for (const text of texts.filter((one) => /^[\x21-\x7e]+$/.test(one)))
        expect((await mfa.service.post('/totp-secret', undefined, { bearer: text })).status).toBe(401);
    }
  });

  it('T056 a second login within the cooldown answers MFA_429001; the first code and mfa_token still work', async () => {
    const user = await mfa.givenUser('t056');
    const { uid, mfaToken } = await mfa.logIn('t056');
    const code = await mfa.lastCode(user);
    mfa.service.clock.advanceSeconds(20);
    const second = await mfa.service.login('t056');
    expect(second).toMatchObject({ status: 429, body: { error_code: 'MFA_429001', data: { retry_after: 40 } } });
    expect(second.headers['retry-after']).toBe('40');
    expect(await mfa.mails(user)).toHaveLength(1);
    expect((await mfa.verify(uid, 'email', code, { mfa_token: mfaToken })).status).toBe(200);
  });

  it('T072 of five parallel logins one sends a mail, four answer MFA_429001', async () => {
    const user = await mfa.givenUser('t072');
    const answers = await Promise.all(Array.from({ length: 5 }, () => mfa.service.login('t072')));
    expect(tally(answers)).toEqual({ success: 1, MFA_429001: 4 });
    expect(await mfa.mails(user)).toHaveLength(1);
  });

  it('a login after the cooldown replaces the pending login: the older code and mfa_token no longer work', async () => {
    const user = await mfa.givenUser('newer');
    const first = await mfa.logInByMail(user);
    const second = await mfa.logInByMail(user);
    expect(await mfa.service.count('pending_logins', 'user_id = ?', [user.uid])).toBe(1);
    const byToken = (code: string, mfa_token: string) => mfa.verify(user.uid, 'email', code, { mfa_token });
    // By chance both codes can be the same.
    if (first.code !== second.code) expect((await byToken(first.code, second.mfaToken)).status).toBe(401);
    expect((await byToken(second.code, first.mfaToken)).body.error_code).toBe('MFA_401001');
    expect((await byToken(second.code, second.mfaToken)).status).toBe(200);
  });

  it('T088 a user with totp whose authenticator was never confirmed gets the code by e-mail', async () => {
    const user = await mfa.givenUser('t088', { mfaType: 'totp' });
    expect((await mfa.service.login('t088')).body.data).toMatchObject({ mfa_required: true, mfa_type: 'email' });
    expect(await mfa.mails(user)).toHaveLength(1);
  });

  it('a user with a confirmed authenticator gets the channel totp, no mail and no cooldown', async () => {
    const { user } = await mfa.givenAuthenticator('confirmed');
    const before = (await mfa.mails(user)).length;
    for (let n = 0; n < 2; n++) {
      expect((await mfa.service.login('confirmed')).body.data).toMatchObject({
        access_token: null,
        mfa_required: true,
        mfa_type: 'totp',
      });
    }
    expect(await mfa.mails(user)).toHaveLength(before);
  });

  it('a user without an e-mail address gets mfa_required and no mail, and the log has a warning', async () => {
    const user = await mfa.givenUser('nomail', { email: null });
    const before = await mfa.service.count('mail_outbox');
    expect((await mfa.service.login('nomail')).body.data).toMatchObject({ mfa_required: true, mfa_type: 'email' });
    expect(await mfa.service.count('mail_outbox')).toBe(before);
    expect(mfa.service.logLines).toContainEqual(
      expect.objectContaining({ level: 40, userId: user.uid, msg: expect.stringContaining('no e-mail address') }),
    );
  });

  it('a due password change comes before the second factor and opens no pending login', async () => {
    const user = await mfa.givenUser('temporary', { temporary: true });
    expect((await mfa.service.login('temporary')).body.data).toMatchObject({
      change_password: true,
      mfa_required: false,
    });
    expect(await mfa.service.count('pending_logins', 'user_id = ?', [user.uid])).toBe(0);
  });

  it('a wrong password sends no mail and starts no cooldown', async () => {
    const user = await mfa.givenUser('typo');
    expect((await mfa.service.login('typo', 'wrong')).body.error_code).toBe('LOGIN_401001');
    expect((await mfa.service.login('typo')).status).toBe(200);
    expect(await mfa.mails(user)).toHaveLength(1);
  });
});

describe('POST /login without MFA_REQUIRED', () => {
  it('asks no user for a code, whatever the mfa_type', () =>
    MfaClient.with({ ...mailsStay, MFA_REQUIRED: 'false' }, async (mfa) => {
      await mfa.givenUser('plain', { mfaType: 'totp' });
      expect((await mfa.service.login('plain')).body.data).toMatchObject({
        access_token: expect.any(String),
        mfa_required: false,
        mfa_type: 'totp',
        mfa_token: null,
      });
    }));

  it('T075 without a configured mail server the login still answers mfa_required', () =>
    MfaClient.with({ SMTP_URL: '' }, async (mfa) => {
      await mfa.givenUser('t075');
      expect((await mfa.service.login('t075')).body.data).toMatchObject({ mfa_required: true });
    }));
});

describe('a pending login', () => {
  it('a mailed code opens no session after an administrator has changed the kind of the second factor, and the same kind ends nothing', () =>
    MfaClient.with({ ADMIN_API: 'on' }, async (administrated) => {
      const user = await administrated.givenUser('switched');
      const { uid } = await administrated.logIn('switched');
      const code = await administrated.lastCode(user);
      const changes = administrated.service.app.get(UserChanges);
      await changes.change(operatorAuthority, uid, { mfaType: 'email' });
      expect(await administrated.row('pending_logins', user)).toMatchObject({ is_closed: 0 });
      await changes.change(operatorAuthority, uid, { mfaType: 'totp' });
      expect((await administrated.verify(uid, 'email', code)).body.error_code).toBe('MFA_401001');
      expect(await administrated.tokens(user)).toBe(0);
    }));
});
