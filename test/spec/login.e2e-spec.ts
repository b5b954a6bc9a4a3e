import { hash } from '@node-rs/bcrypt';
import { password, tally, TestService } from '../support/app';

const day = 86_400;

describe('POST /login', () => {
  let service: TestService;
  beforeAll(async () => {
    // 5 is not the lowest possible cost, so a stored hash can have a lower one.
    service = await TestService.start({ BCRYPT_COST: '5' });
  });
  afterAll(() => service.stop());

  describe('a login without a second factor', () => {
    it('T262 T001 issues and stores both tokens, resets the counter and writes one login_logs row', async () => {
      const user = await service.givenUser('t001', { isAdmin: true });
      await service.login('t001', 'wrong');
      const { status, body } = await service.login('t001');
      expect(status).toBe(200);
      expect(body).toEqual({
        status: true,
        data: {
          access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          refresh_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          user_info: {
            uid: user.uid,
            login_name: 't001',
            nickname: 't001',
            email: 't001@example.com',
            is_admin: true,
            role: null,
            tenant_id: 'root',
            org_unit_id: null,
          },
          tenants: [{ tenant_id: 'root', name: 'Root' }],
          org_units: [],
          change_password: false,
          change_uid: null,
          mfa_required: false,
          mfa_type: 'email',
          mfa_token: null,
          device_token: null,
        },
      });
      const row = await service.userRow(user.uid);
      expect(row.login_failed_count).toBe(0);
      expect(row.last_login_success_time).not.toBeNull();
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(2);
      expect(await service.count('login_logs', "user_id = ? AND outcome = 'success'", [user.uid])).toBe(1);
    });

    it('lists the tenants and organisation units of the user', async () => {
      const user = await service.givenUser('scoped');
      const { database, clock } = service;
      await database.affected("INSERT INTO tenants (id, name, created_at) VALUES ('acme', 'Acme', ?)", [clock.now()]);
      await database.affected("INSERT INTO org_units (id, tenant_id, name) VALUES ('fin', 'acme', 'Finance')");
      await database.affected("INSERT INTO user_tenants (user_id, tenant_id) VALUES (?, 'acme')", [user.uid]);
      await database.affected("INSERT INTO user_org_units (user_id, org_unit_id) VALUES (?, 'fin')", [user.uid]);
      const { body } = await service.login('scoped');
      expect(body.data.tenants).toEqual([
        { tenant_id: 'acme', name: 'Acme' },
        { tenant_id: 'root', name: 'Root' },
      ]);
      expect(body.data.org_units).toEqual([{ org_unit_id: 'fin', tenant_id: 'acme', name: 'Finance' }]);
    });

    it('T017 an omitted provider and null mean "password"; any other value is COMMON_400001 and counts no failure', async () => {
      const user = await service.givenUser('t017');
      for (const provider of ['password', null, undefined]) {
        expect((await service.login('t017', password, { provider })).status).toBe(200);
      }
      for (const provider of ['PASSWORD', 'oauth', '', 1, ['password']]) {
        const { status, body } = await service.login('t017', 'wrong', { provider });
        expect([status, body.error_code, Object.keys(body.data.fields)]).toEqual([400, 'COMMON_400001', ['provider']]);
      }
      expect((await service.userRow(user.uid)).login_failed_count).toBe(0);
    });

    it('replaces a hash of a lower cost at a login with the right password, and ends no session', async () => {
      const user = await service.givenUser('renewed');
      const session = await service.session('renewed');
      const older = await hash(password, { cost: 4 });
      await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [older, user.uid]);
      expect((await service.login('renewed', 'wrong')).status).toBe(401);
      expect((await service.userRow(user.uid)).password).toBe(older);
      expect((await service.login('renewed')).status).toBe(200);
      const row = await service.userRow(user.uid);
      expect(row.password).toMatch(/^\$2b\$05\$/);
      expect(row.salt).toBe(row.password.slice(0, 29));
      expect((await service.get('/user/me', { bearer: session.access })).status).toBe(200);
    });

    it('keeps a hash of a higher cost: a lowered BCRYPT_COST weakens no stored password', async () => {
      const user = await service.givenUser('stronger');
      const stronger = await hash(password, { cost: 6 });
      await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [stronger, user.uid]);
      expect((await service.login('stronger')).status).toBe(200);
      expect((await service.userRow(user.uid)).password).toBe(stronger);
    });
  });

  describe('failures and the lock', () => {
    it('T002 a wrong password is LOGIN_401001, and the failure is counted and committed at once', async () => {
      const user = await service.givenUser('t002');
      const { status, body } = await service.login('t002', 'wrong');
      expect([status, body]).toEqual([401, { error_code: 'LOGIN_401001', msg: expect.any(String) }]);
      const row = await service.userRow(user.uid);
      expect(row.login_failed_count).toBe(1);
      expect(row.last_login_failed_time).not.toBeNull();
    });

    it('T003 an unknown user is LOGIN_404001 and changes no row', async () => {
      const before = await service.count('users', 'login_failed_count > 0');
      const { status, body } = await service.login('nobody-of-that-name');
      expect([status, body.error_code]).toEqual([404, 'LOGIN_404001']);
      expect(await service.count('users', 'login_failed_count > 0')).toBe(before);
    });

    it('T004 the right password after three wrong ones is LOGIN_401004, and no token is issued', async () => {
      const user = await service.givenUser('t004');
      for (let i = 0; i < 3; i++) expect((await service.login('t004', 'wrong')).body.error_code).toBe('LOGIN_401001');
      const { status, body } = await service.login('t004');
      expect([status, body.error_code]).toEqual([401, 'LOGIN_401004']);
      expect((await service.userRow(user.uid)).login_failed_count).toBe(3);
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
    });

    it('T005 while the account is locked, neither the counter nor the time of the last failure changes', async () => {
      const user = await service.givenUser('t005');
      for (let i = 0; i < 3; i++) await service.login('t005', 'wrong');
      const before = await service.userRow(user.uid);
      service.clock.advanceSeconds(60);
      for (let i = 0; i < 5; i++) expect((await service.login('t005', 'wrong')).body.error_code).toBe('LOGIN_401004');
      expect(await service.userRow(user.uid)).toEqual(before);
    });

    it('T006 the account is locked after 899 seconds and open again after 901', async () => {
      const user = await service.givenUser('t006');
      for (let i = 0; i < 3; i++) await service.login('t006', 'wrong');
      service.clock.advanceSeconds(899);
      expect((await service.login('t006')).body.error_code).toBe('LOGIN_401004');
      service.clock.advanceSeconds(2);
      expect((await service.login('t006')).status).toBe(200);
      expect((await service.userRow(user.uid)).login_failed_count).toBe(0);
    });

    it('T007 after USER_LOCK_TIME the counter keeps its value, so one more failure locks the account again', async () => {
      const user = await service.givenUser('t007');
      for (let i = 0; i < 3; i++) await service.login('t007', 'wrong');
      service.clock.advanceSeconds(901);
      expect((await service.login('t007', 'wrong')).body.error_code).toBe('LOGIN_401001');
      expect((await service.userRow(user.uid)).login_failed_count).toBe(4);
      expect((await service.login('t007')).body.error_code).toBe('LOGIN_401004');
    });

    it('T008 a successful login sets the failure counter to 0', async () => {
      await service.givenUser('t008');
      const outcomes = [];
      for (const typed of ['wrong', 'wrong', password, 'wrong', 'wrong']) {
        outcomes.push(await service.login('t008', typed));
      }
      expect(tally(outcomes)).toEqual({ LOGIN_401001: 4, success: 1 });
    });

    it('T016 MAX_LOCK_COUNT and USER_LOCK_TIME decide when the account is locked and for how long', async () => {
      const other = await TestService.start({ MAX_LOCK_COUNT: '5', USER_LOCK_TIME: '5' });
      try {
        await other.givenUser('t016');
        const answers = [];
        for (let i = 0; i < 6; i++) answers.push(await other.login('t016', 'wrong'));
        expect(tally(answers)).toEqual({ LOGIN_401001: 5, LOGIN_401004: 1 });
        other.clock.advanceSeconds(6);
        expect((await other.login('t016')).status).toBe(200);
      } finally {
        await other.stop();
      }
    });

    it('a failure counter without a time does not lock the account for ever', async () => {
      const user = await service.givenUser('timeless');
      await service.database.affected(
        'UPDATE users SET login_failed_count = 9, last_login_failed_time = NULL WHERE uid = ?',
        [user.uid],
      );
      expect((await service.login('timeless')).status).toBe(200);
    });

    it('T018 all spellings of a name belong to one account with one counter; another accent is another account', async () => {
      const user = await service.givenUser('älice');
      await service.givenUser('alice18');
      const answers = [];
      for (const name of ['ÄLICE', ' älice ', 'älice'.normalize('NFD')]) {
        answers.push(await service.login(name, 'wrong'));
      }
      expect(tally(answers)).toEqual({ LOGIN_401001: 3 });
      expect((await service.userRow(user.uid)).login_failed_count).toBe(3);
      for (const name of ['ａｌｉｃｅ１８', 'ALICE18', 'alice18 ']) {
        expect((await service.login(name)).status).toBe(200);
      }
      for (const name of ['àlice', 'alice', 't001@example.org', 'älice\u200b']) {
        expect((await service.login(name)).body.error_code).toBe('LOGIN_404001');
      }
    });

    it('T019 of two names that differ by an accent neither opens the other, and two that differ by case cannot exist', async () => {
      const other = 'Another-Horse-7-accent';
      const plain = await service.givenUser('renee19');
      const accent = await service.givenUser('renée19', { password: other });
      expect((await service.login('renee19', other)).body.error_code).toBe('LOGIN_401001');
      expect((await service.login('renée19', password)).body.error_code).toBe('LOGIN_401001');
      expect((await service.login('RENEE19')).body.data.user_info.uid).toBe(plain.uid);
      expect((await service.login('RENÉE19', other)).body.data.user_info.uid).toBe(accent.uid);
      // Another accent belongs to nobody, and does not lead to the name without one.
      expect((await service.login('renèe19', password)).body.error_code).toBe('LOGIN_404001');
      await expect(service.givenUser('ReNee19', { email: 'second@example.com' })).rejects.toThrow();
      expect(await service.count('users', "login_name_key = 'renee19'")).toBe(1);
    });

    it('T020 300 wrong attempts on unknown names change no table but login_logs and the events of its rows', async () => {
      // Rows that could be changed, also when this test runs alone.
      await service.givenUser('t020', { email: null });
      await service.session('t020');
      const tables = await service.database.rows<{ name: string }>(
        __DATABASE__ === 'sqlite'
          ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
          : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
      );
      const written = /^(login_logs|event_outbox|event_streams|receiver_events|receiver_places)$/;
      const others = async () => {
        const contents = new Map<string, unknown>();
        for (const { name } of tables.filter((table) => !written.test(table.name))) {
          const rows = await service.database.rows(`SELECT * FROM ${name}`);
          // Mails are sent meanwhile, so only their number stays.
          contents.set(name, name === 'mail_outbox' ? rows.length : rows.map((row) => JSON.stringify(row)).sort());
        }
        return contents;
      };
      const [before, logged] = [await others(), await service.count('login_logs')];
      // One after the other, so that no login waits for a hash on a busy machine.
      for (let n = 0; n < 300; n++) {
        expect((await service.login(`unknown-${n}`, 'wrong')).body.error_code).toBe('LOGIN_404001');
      }
      expect(await others()).toEqual(before);
      expect(await service.count('login_logs')).toBe(logged + 300);
    });

    it('T119 passwords with the same first 72 bytes are different passwords', async () => {
      const head = 'Aa1'.padEnd(72, 'x');
      await service.givenUser('t119', { password: head });
      expect((await service.login('t119', `${head}y`)).body.error_code).toBe('LOGIN_401001');
      expect((await service.login('t119', `${head}\u0000`)).body.error_code).toBe('LOGIN_401001');
      expect((await service.login('t119', head)).status).toBe(200);
    });
  });

  describe('the status, checked after the credential', () => {
    it.each([
      ['disabled', -1, 'LOGIN_401011'],
      ['not enabled', 0, 'LOGIN_401012'],
      ['expired', -2, 'LOGIN_401012'],
    ])(
      'T009 T010 T011 status %s (%i): %s for the right password only, and the row does not change',
      async (name, status, code) => {
        const user = await service.givenUser(`status ${name}`, { status, email: null });
        // A lower cost than the configured one, as after an import: the refused login must not replace it.
        await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [
          await hash(password, { cost: 4 }),
          user.uid,
        ]);
        expect((await service.login(user.loginName, 'wrong')).body.error_code).toBe('LOGIN_401001');
        const before = await service.userRow(user.uid);
        for (let i = 0; i < 2; i++) {
          const answer = await service.login(user.loginName);
          expect([answer.status, answer.body.error_code]).toEqual([401, code]);
        }
        expect(await service.userRow(user.uid)).toEqual(before);
        expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
      },
    );

    it('T011 an account unused for 181 days is LOGIN_401008; after 179 days the login succeeds', async () => {
      const user = await service.givenUser('dormant');
      const seen = (days: number) =>
        service.database.affected('UPDATE users SET last_login_success_time = ? WHERE uid = ?', [
          service.clock.secondsFromNow(-days * day),
          user.uid,
        ]);
      await seen(181);
      const before = await service.userRow(user.uid);
      expect((await service.login('dormant')).body.error_code).toBe('LOGIN_401008');
      expect(await service.userRow(user.uid)).toEqual(before);
      await seen(179);
      expect((await service.login('dormant')).status).toBe(200);
    });

    it('T012 a disabled account that is locked is LOGIN_401004', async () => {
      await service.givenUser('t012', { status: -1 });
      for (let i = 0; i < 3; i++) await service.login('t012', 'wrong');
      expect((await service.login('t012')).body.error_code).toBe('LOGIN_401004');
    });

    it('W19 the provider of a user is fixed: a login with the other one is LOGIN_401001 and counts as a failure', async () => {
      const directory = await service.givenUser('in-directory', { provider: 'ldap' });
      await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [
        await hash(password, { cost: 4 }),
        directory.uid,
      ]);
      expect((await service.login('in-directory')).body.error_code).toBe('LOGIN_401001');
      const local = await service.givenUser('local-by-ldap');
      const answer = await service.login('local-by-ldap', password, { provider: 'ldap' });
      expect(answer.body.error_code).toBe('LOGIN_401001');
      expect((await service.userRow(local.uid)).login_failed_count).toBe(1);
    });
  });

  describe('a due password change', () => {
    it.each([
      ['T013 a password that is older than 90 days', 3],
      ['T014 a temporary password', 0],
    ])('%s: the answer has no token and a masked user, and a request of type %i is pending', async (_name, type) => {
      const loginName = `change-${type}`;
      const user = await service.givenUser(loginName, {
        temporary: type === 0,
        passwordSetAt: service.clock.secondsFromNow(type === 3 ? -91 * day : 0),
      });
      const { status, body } = await service.login(loginName);
      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        access_token: null,
        refresh_token: null,
        change_password: true,
        change_uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        mfa_required: false,
        mfa_token: null,
        tenants: [],
        org_units: [],
        user_info: {
          uid: user.uid,
          login_name: loginName,
          email: 'c•••@example.com',
          nickname: null,
          is_admin: null,
          role: null,
          tenant_id: null,
          org_unit_id: null,
        },
      });
      const requests = await service.database.rows<any>(
        'SELECT type, status, uid, token_hash FROM user_change_password_request WHERE user_id = ?',
        [user.uid],
      );
      expect(requests).toEqual([expect.objectContaining({ type, status: 0 })]);
      expect(JSON.stringify(requests)).not.toContain(body.data.change_uid);
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
      expect(await service.count('login_logs', 'user_id = ?', [user.uid])).toBe(0);
    });

    it('T015 a second login leaves only one usable request', async () => {
      const user = await service.givenUser('t015', { temporary: true });
      await service.login('t015');
      await service.login('t015');
      expect(await service.count('user_change_password_request', 'user_id = ? AND status = 0', [user.uid])).toBe(1);
    });

    it('a password that was set 89 days ago is not expired', async () => {
      await service.givenUser('young', { passwordSetAt: service.clock.secondsFromNow(-89 * day) });
      expect((await service.login('young')).body.data.access_token).not.toBeNull();
    });
  });

  describe('the captcha, checked first', () => {
    it.each([[undefined], [''], ['wrong'], [null], [7], [['test-captcha-token']], ['x'.repeat(2049)]])(
      'T031 captcha_token %p is CAPTCHA_401001, and no failure is counted',
      async (captcha_token) => {
        const user = (await service.database.row<any>("SELECT uid FROM users WHERE login_name_key = 't001'")).uid;
        const { status, body } = await service.login('t001', 'wrong', { captcha_token });
        expect([status, body.error_code]).toEqual([401, 'CAPTCHA_401001']);
        expect((await service.userRow(user)).login_failed_count).toBe(0);
      },
    );

    it('T032 T033 a wrong captcha is answered before a locked account and before an unknown name', async () => {
      await service.givenUser('t032');
      for (let i = 0; i < 3; i++) await service.login('t032', 'wrong');
      for (const name of ['t032', 'nobody']) {
        expect((await service.login(name, password, { captcha_token: 'wrong' })).body.error_code).toBe(
          'CAPTCHA_401001',
        );
      }
    });
  });

  describe('login_logs', () => {
    it('has a row with the code for each refusal, also for unknown names, and none for a refused captcha (T263)', async () => {
      const user = await service.givenUser('journal');
      const request = { ip: '203.0.113.7', headers: { 'user-agent': 'test agent' } };
      await service.login('journal', 'wrong', {}, request);
      await service.login('nobody here', 'wrong', {}, request);
      await service.login('journal', password, { captcha_token: 'wrong' }, request);
      await service.login('journal', password, {}, request);
      const rows = await service.database.rows<any>(
        `SELECT user_id, login_name, provider, ip, user_agent, outcome, mfa
         FROM login_logs WHERE ip = '203.0.113.7' ORDER BY id`,
      );
      const shared = { provider: 'password', ip: '203.0.113.7', user_agent: 'test agent', mfa: null };
      expect(rows).toEqual([
        { ...shared, user_id: user.uid, login_name: 'journal', outcome: 'LOGIN_401001' },
        { ...shared, user_id: null, login_name: 'nobody here', outcome: 'LOGIN_404001' },
        { ...shared, user_id: user.uid, login_name: 'journal', outcome: 'success' },
      ]);
    });

    it('T269 a 401 contains neither the id of the user, nor the address, nor a part of the hash', async () => {
      const user = await service.givenUser('t269');
      const { access, refresh } = await service.session('t269');
      const hash = String((await service.userRow(user.uid)).password);
      const refusals = [
        await service.login('t269', 'wrong'),
        await service.get('/user/me', { bearer: `${access}x` }),
        await service.get('/user/me', { bearer: refresh }),
        await service.post('/refresh', { refresh_token: access }),
        await service.post('/otp-verify', { uid: user.uid, type: 'email', code: '123456' }),
        await service.post('/otp-verify', { uid: user.uid, type: 'totp', code: '123456' }),
      ];
      await service.database.affected('UPDATE users SET status = -1 WHERE uid = ?', [user.uid]);
      refusals.push(await service.login('t269'), await service.get('/user/me', { bearer: access }));
      await service.database.affected('UPDATE users SET status = 0 WHERE uid = ?', [user.uid]);
      refusals.push(await service.login('t269'));
      for (let n = 0; n < 3; n++) refusals.push(await service.login('t269', 'wrong'));
      expect(new Set(refusals.map(({ body }) => String(body.error_code))).size).toBeGreaterThan(6);
      for (const { status, headers, body, raw } of refusals) {
        expect(status).toBe(401);
        expect(Object.keys(body as object)).toEqual(['error_code', 'msg']);
        const whole = JSON.stringify(headers) + raw.toString();
        for (const secret of [user.uid, user.email!, hash.slice(7, 29), hash.slice(29)])
          expect(whole).not.toContain(secret);
      }
    });

    it('T265 a login whose login_logs row cannot be written is 503 or 500, and no token is issued', async () => {
      const user = await service.givenUser('unlogged');
      await service.database.affected('ALTER TABLE login_logs RENAME TO login_logs_away');
      try {
        expect((await service.login('unlogged')).status).toBeGreaterThanOrEqual(500);
        expect((await service.login('unlogged', 'wrong')).body.error_code).toBe('LOGIN_401001');
      } finally {
        await service.database.affected('ALTER TABLE login_logs_away RENAME TO login_logs');
      }
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
    });
  });
});

describe('HIDE_ACCOUNT_EXISTENCE', () => {
  it('W10 an unknown name, a locked account and a wrong password get the same answer', async () => {
    const service = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
    try {
      await service.givenUser('hidden');
      for (let i = 0; i < 3; i++) await service.login('hidden', 'wrong');
      const answers = [
        await service.login('hidden'),
        await service.login('unknown'),
        await service.login('hidden', 'wrong'),
      ];
      expect(tally(answers)).toEqual({ LOGIN_401001: 3 });
      expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    } finally {
      await service.stop();
    }
  });
});
