import { PasswordHasher } from '../../src/hashing/password-hasher';
import { password as oldPassword, tally, TestService } from '../support/app';
import { codeOf, goodPassword, look, mailedToken, newMails, recipients, submit } from '../support/reset';

describe('POST /user/change-pwd-by-req', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  let users = 0;
  /** A user with a link of type 2. */
  const given = async (more: Parameters<TestService['givenUser']>[1] = {}) => {
    const name = `user${++users}`;
    const user = await service.givenUser(name, more);
    return { user, name, token: await mailedToken(service, `${name}@example.com`) };
  };

  const requestsOf = (userId: string) =>
    service.database.rows<{ type: number; status: number }>(
      'SELECT type, status FROM user_change_password_request WHERE user_id = ? ORDER BY type, status',
      [userId],
    );

  const logOf = (userId: string) =>
    service.database.rows<{ type: number; password: string }>(
      'SELECT type, password FROM user_change_pwd_logs WHERE user_id = ? ORDER BY id',
      [userId],
    );

  const works = async (name: string, typed: string) => (await service.login(name, typed)).status === 200;

  describe('a change that passes all checks', () => {
    it('sets the password, writes the password log, and the link cannot be used again (T108)', async () => {
      const { user, name, token } = await given();
      const answer = await submit(service, token, goodPassword(1));
      expect([answer.status, answer.body]).toEqual([200, { status: true, data: { result: true } }]);
      expect(codeOf(await service.login(name, oldPassword))).toBe('LOGIN_401001');
      expect(await works(name, goodPassword(1))).toBe(true);
      expect(await requestsOf(user.uid)).toEqual([{ type: 2, status: 1 }]);
      const row = await service.userRow(user.uid);
      expect(row.password).toMatch(/^\$2b\$04\$.{53}$/);
      expect(row.salt).toBe(String(row.password).slice(0, 29));
      const log = await logOf(user.uid);
      expect(log.map(({ type }) => type)).toEqual([0, 2]);
      expect(log[1]?.password).toBe(row.password);
    });

    it('writes an audit row and mails a notice with the time and the client address, but without any link (W12)', async () => {
      const { user, name, token } = await given();
      await service.post(
        '/user/change-pwd-by-req',
        { req_uid: token, password: goodPassword(1), confirm_password: goodPassword(1) },
        { ip: '203.0.113.9', headers: { 'accept-language': 'zh-CN', 'user-agent': 'browser' } },
      );
      const [mail, ...others] = await newMails(service);
      expect(others).toEqual([]);
      expect(recipients(mail)).toEqual([`${name}@example.com`]);
      expect(mail?.subject).toBe('您的密码已被更改');
      for (const part of [mail?.text, mail?.html]) {
        expect(part).toContain('203.0.113.9');
        expect(part).toContain(service.clock.now().toISOString().slice(0, 16).replace('T', ' '));
        expect(part).not.toMatch(/https?:|href|uid=/);
      }
      expect(
        await service.database.rows('SELECT event, ip, user_agent, detail FROM audit_logs WHERE user_id = ?', [
          user.uid,
        ]),
      ).toContainEqual({
        event: 'USER_PASSWORD_CHANGED',
        ip: '203.0.113.9',
        user_agent: 'browser',
        detail: '{"type":2}',
      });
    });

    it('changes the password of a user without an e-mail address, and sends no notice', async () => {
      const { user, token } = await given();
      await service.database.affected('UPDATE users SET email = NULL, email_key = NULL WHERE uid = ?', [user.uid]);
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect(await newMails(service)).toEqual([]);
    });

    it('revokes all tokens of the user, and the tokens of no other user (T127)', async () => {
      const { name, token } = await given();
      const other = await given();
      const [mine, theirs] = [await service.session(name), await service.session(other.name)];
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect(codeOf(await service.get('/user/me', { bearer: mine.access }))).toBe('AUTH_401004');
      expect(codeOf(await service.post('/refresh', {}, { bearer: mine.refresh }))).toBe('AUTH_401006');
      expect(codeOf(await service.get('/user/me', { bearer: theirs.access }))).toBe('success');
      expect(codeOf(await service.post('/refresh', {}, { bearer: theirs.refresh }))).toBe('success');
    });

    it('opens no session: neither the body nor the headers contain a token (T128)', async () => {
      const { user, token } = await given();
      const { body, headers } = await submit(service, token, goodPassword(1));
      expect(Object.keys(body.data)).toEqual(['result']);
      expect(headers).not.toHaveProperty('set-cookie');
      expect(headers).not.toHaveProperty('authorization');
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
    });

    it('ends the lock of a locked user (W55)', async () => {
      const { user, name, token } = await given();
      for (let i = 0; i < 3; i++) await service.login(name, 'wrong');
      expect(codeOf(await service.login(name))).toBe('LOGIN_401004');
      await submit(service, token, goodPassword(1));
      expect(await service.userRow(user.uid)).toMatchObject({ login_failed_count: 0, last_login_failed_time: null });
      expect(await works(name, goodPassword(1))).toBe(true);
    });

    it.each([
      [-1, 'LOGIN_401011'],
      [0, 'LOGIN_401012'],
      [-2, 'LOGIN_401012'],
    ])('does not change the account status %i (T129, W07)', async (status, code) => {
      const { user, name, token } = await given();
      await service.database.affected('UPDATE users SET status = ? WHERE uid = ?', [status, user.uid]);
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await service.userRow(user.uid)).status).toBe(status);
      expect(codeOf(await service.login(name, goodPassword(1)))).toBe(code);
    });

    it('ends all other links of the user, of every type', async () => {
      const { user, name, token } = await given({ passwordSetAt: new Date('2025-01-01T00:00:00Z') });
      const forced = (await service.login(name)).body.data.change_uid as string;
      expect(codeOf(await submit(service, forced, goodPassword(1)))).toBe('success');
      expect(codeOf(await look(service, token))).toBe('AUTH_401007');
      expect(codeOf(await submit(service, token, goodPassword(2)))).toBe('AUTH_401007');
      expect(await requestsOf(user.uid)).toEqual([
        { type: 2, status: 1 },
        { type: 3, status: 1 },
      ]);
    });

    it('a user whose password has expired changes it with a link of type 3, and logs in (T117)', async () => {
      const user = await service.givenUser('expired', { passwordSetAt: new Date('2025-11-01T00:00:00Z') });
      const login = await service.login('expired');
      expect(login.body.data).toMatchObject({ change_password: true, access_token: null });
      const token = login.body.data.change_uid as string;
      expect((await look(service, token)).body.data).toMatchObject({ user_id: user.uid, type: 3, status: 0 });
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await logOf(user.uid)).map(({ type }) => type)).toEqual([0, 3]);
      expect((await service.login('expired', goodPassword(1))).body.data).toMatchObject({ change_password: false });
    });

    it('a user with a temporary password changes it with a link of type 0, and logs in (T117)', async () => {
      const user = await service.givenUser('temporary', { temporary: true });
      const token = (await service.login('temporary')).body.data.change_uid as string;
      expect((await look(service, token)).body.data).toMatchObject({ user_id: user.uid, type: 0, status: 0 });
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await service.login('temporary', goodPassword(1))).body.data).toMatchObject({ change_password: false });
      expect(Number((await service.userRow(user.uid)).must_change_password)).toBe(0);
    });

    it('a second forced login makes the link of the first one invalid (T015)', async () => {
      await service.givenUser('twice', { temporary: true });
      const first = (await service.login('twice')).body.data.change_uid as string;
      const second = (await service.login('twice')).body.data.change_uid as string;
      expect(codeOf(await look(service, first))).toBe('AUTH_401007');
      expect(codeOf(await submit(service, second, goodPassword(1)))).toBe('success');
    });
  });

  describe('the answer names the first failed check in the specified order, whatever else is wrong (T111, T112)', () => {
    const order = ['mismatch', 'weak', 'unknown', 'used', 'expired', 'reused'] as const;
    type Fault = (typeof order)[number];
    const codes: Record<Fault, string> = {
      mismatch: 'AUTH_401010',
      weak: 'AUTH_400007',
      unknown: 'AUTH_401003',
      used: 'AUTH_401007',
      expired: 'AUTH_401005',
      reused: 'AUTH_401009',
    };
    const combinations = Array.from({ length: 2 ** order.length }, (_, bits) =>
      order.filter((_f, i) => bits & (1 << i)),
    )
      // A link that does not exist can be neither used nor expired.
      .filter((faults) => !faults.includes('unknown') || !(faults.includes('used') || faults.includes('expired')));

    it.each(combinations.map((faults) => [faults.join(' + ') || 'no fault', faults] as const))(
      '%s',
      async (_name, faults) => {
        const has = (fault: Fault) => faults.includes(fault);
        const chosen = has('weak') ? 'weak' : has('reused') ? oldPassword : goodPassword(users);
        const { user, name, token } = await given(has('weak') && has('reused') ? { password: 'weak' } : {});
        if (has('used'))
          await service.database.affected('UPDATE user_change_password_request SET status = 1 WHERE user_id = ?', [
            user.uid,
          ]);
        if (has('expired')) service.clock.advanceSeconds(1801);
        const req = has('unknown') ? token.replace(/^./, (c) => (c === '0' ? '1' : '0')) : token;
        const before = [await service.userRow(user.uid), await requestsOf(user.uid), await logOf(user.uid)];
        const answer = await submit(service, req, chosen, has('mismatch') ? `${chosen}x` : chosen);
        const first = order.find(has);
        expect(codeOf(answer)).toBe(first === undefined ? 'success' : codes[first]);
        if (first === undefined) return expect(await works(name, chosen)).toBe(true);
        expect([await service.userRow(user.uid), await requestsOf(user.uid), await logOf(user.uid)]).toEqual(before);
        expect(await newMails(service)).toEqual([]);
      },
    );
  });

  describe('a failed attempt leaves the link usable', () => {
    it('AUTH_401010, AUTH_400007, AUTH_401009 and COMMON_400001 do not use up the link', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, goodPassword(1), goodPassword(2)))).toBe('AUTH_401010');
      expect(codeOf(await submit(service, token, 'weak'))).toBe('AUTH_400007');
      expect(codeOf(await submit(service, token, oldPassword))).toBe('AUTH_401009');
      expect(codeOf(await submit(service, token, 1))).toBe('COMMON_400001');
      expect(codeOf(await look(service, token))).toBe('success');
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect(await works(name, goodPassword(1))).toBe(true);
    });

    it.each(['user_change_pwd_logs', 'audit_logs', 'mail_outbox', 'login_tokens'])(
      'a change is one transaction: when the table %s is missing nothing changes, and the link works later',
      async (table) => {
        const { user, name, token } = await given();
        const before = [await service.userRow(user.uid), await requestsOf(user.uid)];
        await service.database.affected(`ALTER TABLE ${table} RENAME TO away`);
        const answer = await submit(service, token, goodPassword(1));
        await service.database.affected(`ALTER TABLE away RENAME TO ${table}`);
        expect(answer.status).toBeGreaterThanOrEqual(500);
        expect([await service.userRow(user.uid), await requestsOf(user.uid)]).toEqual(before);
        expect(await works(name, oldPassword)).toBe(true);
        expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      },
    );
  });

  describe('reuse of passwords', () => {
    it('refuses the last three passwords and accepts the fourth last (T114)', async () => {
      const { name, token } = await given();
      let link = token;
      for (const n of [1, 2, 3]) {
        expect(codeOf(await submit(service, link, goodPassword(n)))).toBe('success');
        service.clock.advanceSeconds(300);
        link = await mailedToken(service, `${name}@example.com`);
      }
      for (const n of [3, 2, 1]) expect(codeOf(await submit(service, link, goodPassword(n)))).toBe('AUTH_401009');
      expect(codeOf(await submit(service, link, oldPassword))).toBe('success');
    });

    it('also refuses the current password when it has no log row, without forgetting one of the last three', async () => {
      const { user, name, token } = await given();
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      service.clock.advanceSeconds(300);
      expect(codeOf(await submit(service, await mailedToken(service, `${name}@example.com`), goodPassword(2)))).toBe(
        'success',
      );
      service.clock.advanceSeconds(300);
      // An import by SQL, or a login that renews the hash, also stores a hash without a log row.
      const foreign = await service.app.get(PasswordHasher).hash(goodPassword(3), { ip: 'test' });
      await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [foreign, user.uid]);
      const link = await mailedToken(service, `${name}@example.com`);
      for (const typed of [goodPassword(3), goodPassword(2), goodPassword(1), oldPassword]) {
        expect(codeOf(await submit(service, link, typed))).toBe('AUTH_401009');
      }
    });

    it('accepts the password of another user', async () => {
      const [one, two] = [await given(), await given()];
      expect(codeOf(await submit(service, one.token, goodPassword(1)))).toBe('success');
      expect(codeOf(await submit(service, two.token, goodPassword(1)))).toBe('success');
    });
  });

  describe('passwords that bcrypt would truncate or misread (W21)', () => {
    const seventyTwo = 'Aa1' + 'x'.repeat(69);

    it('accepts 72 bytes and answers 73 bytes with AUTH_400007 (T119)', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, `${seventyTwo}y`))).toBe('AUTH_400007');
      expect(codeOf(await submit(service, token, seventyTwo))).toBe('success');
      expect(await works(name, seventyTwo)).toBe(true);
      expect(codeOf(await service.login(name, `${seventyTwo}y`))).toBe('LOGIN_401001');
    });

    it('counts the bytes of UTF-8, not the characters', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, 'Aa1' + '🐎'.repeat(18)))).toBe('AUTH_400007');
      const longest = 'Aa1x' + '🐎'.repeat(17);
      expect(Buffer.byteLength(longest)).toBe(72);
      expect(codeOf(await submit(service, token, longest))).toBe('success');
      expect(await works(name, longest)).toBe(true);
    });

    it.each([
      ['NUL', 'Correct-Horse\0-8'],
      ['NUL at the end', 'Correct-Horse-8\0'],
      ['a high surrogate', 'Correct-Horse-8\ud800'],
      ['a low surrogate', '\udc00Correct-Horse-8'],
      ['surrogates in the wrong order', 'Correct-Horse-8\udc00\ud800'],
    ])('a password that contains %s is answered with AUTH_400007 (T120, T213)', async (_name, typed) => {
      const { token } = await given();
      expect(codeOf(await submit(service, token, typed))).toBe('AUTH_400007');
      expect(codeOf(await look(service, token))).toBe('success');
    });

    it('keeps spaces at both ends of a password (T121)', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, '  Correct-Horse-8 '))).toBe('success');
      expect(codeOf(await service.login(name, 'Correct-Horse-8'))).toBe('LOGIN_401001');
      expect(await works(name, '  Correct-Horse-8 ')).toBe(true);
    });

    it('refuses a confirmation that differs only in a space, in case or in its Unicode normalisation (T121)', async () => {
      const { token } = await given();
      const composed = 'Corr\u00e9ct-Horse-8';
      for (const confirm of [`${composed} `, composed.toUpperCase(), composed.normalize('NFD')]) {
        expect(codeOf(await submit(service, token, composed, confirm))).toBe('AUTH_401010');
      }
    });

    it('treats composed and decomposed letters as different passwords (T121, ADR 0009)', async () => {
      const [one, two] = [await given(), await given()];
      const composed = 'Corr\u00e9ct-Horse-8';
      const decomposed = composed.normalize('NFD');
      expect(codeOf(await submit(service, one.token, composed))).toBe('success');
      expect(codeOf(await submit(service, two.token, decomposed))).toBe('success');
      expect([await works(one.name, composed), await works(two.name, decomposed)]).toEqual([true, true]);
      expect([await works(one.name, decomposed), await works(two.name, composed)]).toEqual([false, false]);
      service.clock.advanceSeconds(300);
      const link = await mailedToken(service, `${one.name}@example.com`);
      expect(codeOf(await submit(service, link, decomposed))).toBe('success');
    });

    it('accepts 64 ASCII characters (T118)', async () => {
      const { name, token } = await given();
      const sixtyFour = 'Aa1-'.repeat(16);
      expect(codeOf(await submit(service, token, sixtyFour))).toBe('success');
      expect(await works(name, sixtyFour)).toBe(true);
    });
  });

  describe('a malformed body (T189, T192, T193)', () => {
    const good = {
      req_uid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
      password: goodPassword(1),
      confirm_password: goodPassword(1),
    };

    it.each(
      Object.keys(good).flatMap((field) =>
        [undefined, null, 0, true, {}, { uid: 1 }, { $ne: null }, ['x'], []].map((value) => [field, value] as const),
      ),
    )('%s with the value %j is answered with COMMON_400001', async (field, value) => {
      const answer = await service.post('/user/change-pwd-by-req', { ...good, [field]: value });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'COMMON_400001']);
      expect(Object.keys(answer.body.data.fields)).toEqual([field]);
    });

    it.each(['[]', 'null', '"x"', '1', '{', '{"req_uid":NaN}', '{"__proto__":{}}'])(
      'the body %s is answered with COMMON_400001',
      async (payload) => {
        const answer = await service.app.inject({
          method: 'POST',
          url: '/user/change-pwd-by-req',
          headers: { 'content-type': 'application/json' },
          payload,
        });
        expect([answer.statusCode, JSON.parse(answer.payload).error_code]).toEqual([400, 'COMMON_400001']);
      },
    );

    it('an empty field is answered with the error code of its check', async () => {
      expect(codeOf(await service.post('/user/change-pwd-by-req', { ...good, req_uid: '' }))).toBe('AUTH_401003');
      expect(codeOf(await service.post('/user/change-pwd-by-req', { ...good, password: '' }))).toBe('AUTH_401010');
      const empty = { ...good, password: '', confirm_password: '' };
      expect(codeOf(await service.post('/user/change-pwd-by-req', empty))).toBe('AUTH_400007');
    });

    it('fields that are not in the contract have no effect (T141)', async () => {
      const [mine, theirs] = [await given(), await given()];
      const password = goodPassword(1);
      await service.post('/user/change-pwd-by-req', {
        req_uid: mine.token,
        password,
        confirm_password: password,
        user_id: theirs.user.uid,
        type: 0,
        status: 1,
      });
      expect([await works(mine.name, password), await works(theirs.name, password)]).toEqual([true, false]);
    });
  });

  it('no password, hash or link token appears in a log, an audit row or an answer', async () => {
    const { user, token } = await given();
    const chosen = 'Unmistakable-Secret-77';
    const answers = [
      await submit(service, token, 'weak'),
      await submit(service, token, chosen),
      await submit(service, token, chosen),
    ];
    const { password: hash } = await service.userRow(user.uid);
    const audit = await service.database.rows('SELECT * FROM audit_logs');
    const told = JSON.stringify([service.logLines, audit, answers.map(({ body }) => body as object)]);
    expect(told).not.toContain(chosen);
    expect(told).not.toContain(hash);
    expect(told).not.toContain(token);
  });

  it('of 30 parallel submits of one link with different passwords one wins, and only its password works (T122)', async () => {
    const { user, name, token } = await given();
    const numbers = Array.from({ length: 30 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => submit(service, token, goodPassword(n))));
    expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 29 });
    const winner = answers.findIndex(({ status }) => status === 200);
    const matches = numbers.map(async (n) =>
      service.app
        .get(PasswordHasher)
        .matches(goodPassword(n), (await service.userRow(user.uid)).password as string, { ip: 'test' }),
    );
    expect((await Promise.all(matches)).map((match, n) => (match ? n : -1)).filter((n) => n >= 0)).toEqual([winner]);
    expect(await works(name, goodPassword(winner))).toBe(true);
    expect((await logOf(user.uid)).map(({ type }) => type)).toEqual([0, 2]);
    expect(await newMails(service)).toHaveLength(1);
  });

  it('of 30 parallel submits of one link with the same password the losers get AUTH_401007, not the code for reuse', async () => {
    const { token } = await given();
    const answers = await Promise.all(Array.from({ length: 30 }, () => submit(service, token, goodPassword(1))));
    expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 29 });
  });
});
