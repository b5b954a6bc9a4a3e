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

  describe('a change that passes', () => {
    it('§4.11 sets the password, writes the log and uses the link up (T108)', async () => {
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

    it('audits the change and mails a notice with time and address, without any link (W12)', async () => {
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

    it('a user without an address gets no notice, and no error', async () => {
      const { user, token } = await given();
      await service.database.affected('UPDATE users SET email = NULL, email_key = NULL WHERE uid = ?', [user.uid]);
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect(await newMails(service)).toEqual([]);
    });

    it('revokes every token of the user and nobody else’s (T127)', async () => {
      const { name, token } = await given();
      const other = await given();
      const [mine, theirs] = [await service.session(name), await service.session(other.name)];
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect(codeOf(await service.get('/user/me', { bearer: mine.access }))).toBe('AUTH_401004');
      expect(codeOf(await service.post('/refresh', {}, { bearer: mine.refresh }))).toBe('AUTH_401006');
      expect(codeOf(await service.get('/user/me', { bearer: theirs.access }))).toBe('success');
      expect(codeOf(await service.post('/refresh', {}, { bearer: theirs.refresh }))).toBe('success');
    });

    it('opens no session: neither body nor headers carry a token (T128)', async () => {
      const { user, token } = await given();
      const { body, headers } = await submit(service, token, goodPassword(1));
      expect(Object.keys(body.data)).toEqual(['result']);
      expect(headers).not.toHaveProperty('set-cookie');
      expect(headers).not.toHaveProperty('authorization');
      expect(await service.count('login_tokens', 'user_identity = ?', [user.uid])).toBe(0);
    });

    it('clears the counter of a locked user (W55)', async () => {
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
    ])('never changes status %i (T129, W07)', async (status, code) => {
      const { user, name, token } = await given();
      await service.database.affected('UPDATE users SET status = ? WHERE uid = ?', [status, user.uid]);
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await service.userRow(user.uid)).status).toBe(status);
      expect(codeOf(await service.login(name, goodPassword(1)))).toBe(code);
    });

    it('ends every other link of the user, of whatever type', async () => {
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

    it('§1.7 type 3: an expired password (T117)', async () => {
      const user = await service.givenUser('expired', { passwordSetAt: new Date('2025-11-01T00:00:00Z') });
      const login = await service.login('expired');
      expect(login.body.data).toMatchObject({ change_password: true, access_token: null });
      const token = login.body.data.change_uid as string;
      expect((await look(service, token)).body.data).toMatchObject({ user_id: user.uid, type: 3, status: 0 });
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await logOf(user.uid)).map(({ type }) => type)).toEqual([0, 3]);
      expect((await service.login('expired', goodPassword(1))).body.data).toMatchObject({ change_password: false });
    });

    it('§1.7 type 0: a temporary password (T117)', async () => {
      const user = await service.givenUser('temporary', { temporary: true });
      const token = (await service.login('temporary')).body.data.change_uid as string;
      expect((await look(service, token)).body.data).toMatchObject({ user_id: user.uid, type: 0, status: 0 });
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      expect((await service.login('temporary', goodPassword(1))).body.data).toMatchObject({ change_password: false });
      expect(Number((await service.userRow(user.uid)).must_change_password)).toBe(0);
    });

    it('a newer forced request supersedes the pending one of its type (T015)', async () => {
      await service.givenUser('twice', { temporary: true });
      const first = (await service.login('twice')).body.data.change_uid as string;
      const second = (await service.login('twice')).body.data.change_uid as string;
      expect(codeOf(await look(service, first))).toBe('AUTH_401007');
      expect(codeOf(await submit(service, second, goodPassword(1)))).toBe('success');
    });
  });

  describe('the checks come in the order of §4.11, whatever else is wrong (T111, T112)', () => {
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
      // Not a link of anybody's cannot be used up or expire as well.
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
    it('AUTH_401010, AUTH_400007, AUTH_401009 and COMMON_400001 do not use it up', async () => {
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
      '§4.11 one atomic unit: without %s nothing is changed, and the link works later',
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

  describe('reuse (§8)', () => {
    it('none of the last three comes back, the fourth does (T114)', async () => {
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

    it('a password that has no log row of its own is compared too, and pushes none of the three out', async () => {
      const { user, name, token } = await given();
      expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
      service.clock.advanceSeconds(300);
      expect(codeOf(await submit(service, await mailedToken(service, `${name}@example.com`), goodPassword(2)))).toBe(
        'success',
      );
      service.clock.advanceSeconds(300);
      // As by an import through SQL, or by a login that hashes anew under another cost.
      const foreign = await service.app.get(PasswordHasher).hash(goodPassword(3), { ip: 'test' });
      await service.database.affected('UPDATE users SET password = ? WHERE uid = ?', [foreign, user.uid]);
      const link = await mailedToken(service, `${name}@example.com`);
      for (const typed of [goodPassword(3), goodPassword(2), goodPassword(1), oldPassword]) {
        expect(codeOf(await submit(service, link, typed))).toBe('AUTH_401009');
      }
    });

    it('other users’ passwords are free', async () => {
      const [one, two] = [await given(), await given()];
      expect(codeOf(await submit(service, one.token, goodPassword(1)))).toBe('success');
      expect(codeOf(await submit(service, two.token, goodPassword(1)))).toBe('success');
    });
  });

  describe('what bcrypt would cut or misread (W21)', () => {
    const seventyTwo = 'Aa1' + 'x'.repeat(69);

    it('72 bytes are a password, 73 are AUTH_400007 (T119)', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, `${seventyTwo}y`))).toBe('AUTH_400007');
      expect(codeOf(await submit(service, token, seventyTwo))).toBe('success');
      expect(await works(name, seventyTwo)).toBe(true);
      expect(codeOf(await service.login(name, `${seventyTwo}y`))).toBe('LOGIN_401001');
    });

    it('bytes are those of UTF-8', async () => {
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
    ])('%s is AUTH_400007 (T120, T213)', async (_name, typed) => {
      const { token } = await given();
      expect(codeOf(await submit(service, token, typed))).toBe('AUTH_400007');
      expect(codeOf(await look(service, token))).toBe('success');
    });

    it('spaces at the ends belong to the password (T121)', async () => {
      const { name, token } = await given();
      expect(codeOf(await submit(service, token, '  Correct-Horse-8 '))).toBe('success');
      expect(codeOf(await service.login(name, 'Correct-Horse-8'))).toBe('LOGIN_401001');
      expect(await works(name, '  Correct-Horse-8 ')).toBe(true);
    });

    it('a confirmation that differs in a space, a case or a composition differs (T121)', async () => {
      const { token } = await given();
      const composed = 'Corr\u00e9ct-Horse-8';
      for (const confirm of [`${composed} `, composed.toUpperCase(), composed.normalize('NFD')]) {
        expect(codeOf(await submit(service, token, composed, confirm))).toBe('AUTH_401010');
      }
    });

    it('composed and decomposed letters are two passwords, both as they were sent (T121, ADR 0009)', async () => {
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

    it('64 ASCII characters are a password (T118)', async () => {
      const { name, token } = await given();
      const sixtyFour = 'Aa1-'.repeat(16);
      expect(codeOf(await submit(service, token, sixtyFour))).toBe('success');
      expect(await works(name, sixtyFour)).toBe(true);
    });
  });

  describe('the body (T189, T192, T193)', () => {
    const good = {
      req_uid: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
      password: goodPassword(1),
      confirm_password: goodPassword(1),
    };

    it.each(
      Object.keys(good).flatMap((field) =>
        [undefined, null, 0, true, {}, { uid: 1 }, { $ne: null }, ['x'], []].map((value) => [field, value] as const),
      ),
    )('%s: %j is COMMON_400001', async (field, value) => {
      const answer = await service.post('/user/change-pwd-by-req', { ...good, [field]: value });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'COMMON_400001']);
      expect(Object.keys(answer.body.data.fields)).toEqual([field]);
    });

    it.each(['[]', 'null', '"x"', '1', '{', '{"req_uid":NaN}', '{"__proto__":{}}'])(
      '%s is COMMON_400001',
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

    it('empty texts have the codes of their checks', async () => {
      expect(codeOf(await service.post('/user/change-pwd-by-req', { ...good, req_uid: '' }))).toBe('AUTH_401003');
      expect(codeOf(await service.post('/user/change-pwd-by-req', { ...good, password: '' }))).toBe('AUTH_401010');
      const empty = { ...good, password: '', confirm_password: '' };
      expect(codeOf(await service.post('/user/change-pwd-by-req', empty))).toBe('AUTH_400007');
    });

    it('fields that the contract does not name change nothing (T141)', async () => {
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

  it('no password and no hash reaches a log, an audit row or an answer', async () => {
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

  it('of 30 parallel submits of one link with 30 passwords one wins, and its password is the one that works (T122)', async () => {
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

  it('of 30 parallel submits of one link with one password the losers hear of the used link, not of a reuse', async () => {
    const { token } = await given();
    const answers = await Promise.all(Array.from({ length: 30 }, () => submit(service, token, goodPassword(1))));
    expect(tally(answers)).toEqual({ success: 1, AUTH_401007: 29 });
  });
});
