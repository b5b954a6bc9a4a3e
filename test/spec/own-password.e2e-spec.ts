import { decodeJwt } from 'jose';
import { PasswordHasher } from '../../src/hashing/password-hasher';
import { PasswordChangeRequests } from '../../src/password-reset/password-change-requests';
import { changeType } from '../../src/shared/change-type';
import { PasswordHistory } from '../../src/users/password-change-log.repository';
import { UsersRepository } from '../../src/users/users.repository';
import { password as oldPassword, TestService } from '../support/app';
import { codeOf, goodPassword, mailedToken, newMails, recipients, submit } from '../support/reset';

const next = goodPassword(1);

describe('POST /user/change-password', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ PASSWORD_HISTORY: '3' });
  });
  afterAll(() => service.stop());
  afterEach(() => jest.restoreAllMocks());

  let users = 0;
  const given = async (more: Parameters<TestService['givenUser']>[1] = {}) => {
    const name = `owner${++users}`;
    const user = await service.givenUser(name, more);
    return { user, name, ...(await service.session(name)) };
  };

  const change = (bearer: string, body: Record<string, unknown> = {}, more = {}) =>
    service.post(
      '/user/change-password',
      { current_password: oldPassword, password: next, confirm_password: body.password ?? next, ...body },
      { bearer, ...more },
    );
  const me = async (bearer: string) => codeOf(await service.get('/user/me', { bearer }));
  const refresh = async (bearer: string) => codeOf(await service.post('/refresh', undefined, { bearer }));
  const failures = async (uid: string) => Number((await service.userRow(uid)).login_failed_count);
  const logOf = (uid: string) =>
    service.database.rows<{ type: number; password: string }>(
      'SELECT type, password FROM user_change_pwd_logs WHERE user_id = ? ORDER BY id',
      [uid],
    );
  const eventsOf = async (uid: string) =>
    (
      await service.database.rows<{ event: string }>('SELECT event FROM audit_logs WHERE user_id = ? ORDER BY id', [
        uid,
      ])
    ).map(({ event }) => event);

  it('sets the password, writes a history row of type 1, an audit row and a notice mail, and is no login', async () => {
    const { user, name, access } = await given();
    await newMails(service);
    const before = await service.userRow(user.uid);
    service.clock.advanceSeconds(5);
    const answer = await change(access, {}, { ip: '203.0.113.9' });
    expect(answer.body).toEqual({
      status: true,
      data: { access_token: expect.any(String), refresh_token: expect.any(String) },
    });
    const row = await service.userRow(user.uid);
    const log = await logOf(user.uid);
    expect(log.map(({ type }) => type)).toEqual([0, 1]);
    expect(log[1]!.password).toBe(row.password);
    expect(row.salt).toBe(String(row.password).slice(0, 29));
    expect(row.last_login_success_time).toEqual(before.last_login_success_time);
    expect(await eventsOf(user.uid)).toEqual(['USER_PASSWORD_CHANGED']);
    expect(await service.count('login_logs', 'user_id = ?', [user.uid])).toBe(1);
    const [mail, ...others] = await newMails(service);
    expect([recipients(mail), others]).toEqual([[`${name}@example.com`], []]);
    expect(mail?.text).toContain('203.0.113.9');
    expect(codeOf(await service.login(name, oldPassword))).toBe('LOGIN_401001');
    expect(codeOf(await service.login(name, next))).toBe('success');
  });

  it('the pair of the answer replaces the tokens of the session: same factors, same end, and the old pair is dead (T278)', async () => {
    const { access, refresh: oldRefresh } = await given();
    service.clock.advanceSeconds(60);
    const { access_token, refresh_token } = (await change(access)).body.data;
    expect([await me(access), await refresh(oldRefresh)]).toEqual(['AUTH_401004', 'AUTH_401006']);
    expect([await me(access_token), await refresh(refresh_token)]).toEqual(['success', 'success']);
    const [before, after] = [decodeJwt(oldRefresh), decodeJwt(refresh_token as string)];
    expect(after).toMatchObject({ sub: before.sub, amr: before.amr, tenant_id: before.tenant_id, exp: before.exp });
    expect(after.sid).not.toBe(before.sid);
    const { sessions } = (await service.get('/user/sessions', { bearer: access_token })).body.data;
    expect(sessions.map((session: any) => [session.sid, session.current])).toEqual([[after.sid, true]]);
  });

  it('ends every other session, pending login and link, and leaves those of other users alone (T278)', async () => {
    const { user, name, access } = await given();
    const other = await given();
    const elsewhere = await service.session(name);
    const token = await mailedToken(service, `${name}@example.com`);
    const othersToken = await mailedToken(service, `${other.name}@example.com`);
    await service.database.affected(
      `INSERT INTO pending_logins (user_id, id, channel, token_hash, ip, credential_version, expires, created_at)
       VALUES (?, ?, 'email', 'x', '127.0.0.1', 0, ?, ?)`,
      [user.uid, user.uid, service.clock.secondsFromNow(300), service.clock.now()],
    );
    expect(codeOf(await change(access))).toBe('success');
    expect([await me(elsewhere.access), await refresh(elsewhere.refresh)]).toEqual(['AUTH_401004', 'AUTH_401006']);
    expect(codeOf(await submit(service, token, goodPassword(2)))).toBe('AUTH_401007');
    expect(await service.count('pending_logins', 'user_id = ? AND is_closed = 0', [user.uid])).toBe(0);
    expect(await service.count('user_change_password_request', 'user_id = ? AND status = 0', [user.uid])).toBe(0);
    expect(await me(other.access)).toBe('success');
    expect(codeOf(await submit(service, othersToken, goodPassword(2)))).toBe('success');
  });

  describe('the order of the checks', () => {
    it('AUTH_401010 comes before everything that the account decides, and counts nothing', async () => {
      const { user, access } = await given();
      const answer = await change(access, { current_password: 'wrong', password: 'x', confirm_password: 'y' });
      expect([codeOf(answer), await failures(user.uid)]).toEqual(['AUTH_401010', 0]);
    });

    it('a wrong current password is LOGIN_401001, is counted and audited, and comes before the policy', async () => {
      const { user, access } = await given();
      expect(codeOf(await change(access, { current_password: 'wrong', password: 'weak' }))).toBe('LOGIN_401001');
      expect(await failures(user.uid)).toBe(1);
      expect(await eventsOf(user.uid)).toEqual(['CURRENT_PASSWORD_WRONG']);
      expect(await me(access)).toBe('success');
    });

    it('three wrong ones lock the account, here and at /login; the lock comes before the current password (T276)', async () => {
      const { user, name, access } = await given();
      for (const typed of ['wrong', '', oldPassword.padEnd(73)]) {
        expect(codeOf(await change(access, { current_password: typed }))).toBe('LOGIN_401001');
      }
      expect(codeOf(await change(access))).toBe('LOGIN_401004');
      expect(codeOf(await service.login(name))).toBe('LOGIN_401004');
      expect(await failures(user.uid)).toBe(3);
      service.clock.advanceSeconds(901);
      const again = await service.session(name);
      expect(codeOf(await change(again.access))).toBe('success');
    });

    it('failures at /login count here, and the right password sets the counter to 0, whatever comes after it', async () => {
      const { user, name, access } = await given();
      await service.login(name, 'wrong');
      await service.login(name, 'wrong');
      expect(codeOf(await change(access, { password: 'weak' }))).toBe('AUTH_400007');
      expect(await failures(user.uid)).toBe(0);
    });

    it('the policy is AUTH_400007 and comes before the reuse, which is AUTH_401009; nothing has changed then', async () => {
      const { user, access } = await given();
      const before = await service.userRow(user.uid);
      expect(codeOf(await change(access, { password: `${next}${'x'.repeat(80)}` }))).toBe('AUTH_400007');
      expect(codeOf(await change(access, { password: oldPassword }))).toBe('AUTH_401009');
      expect(await service.userRow(user.uid)).toEqual(before);
      expect(await me(access)).toBe('success');
    });

    it('the last three passwords are refused, and the one before them is not', async () => {
      let { access } = await given();
      let current = oldPassword;
      for (const n of [1, 2, 3]) {
        const answer = await change(access, { current_password: current, password: goodPassword(n) });
        access = answer.body.data.access_token as string;
        current = goodPassword(n);
      }
      for (const n of [1, 2, 3]) {
        expect(codeOf(await change(access, { current_password: current, password: goodPassword(n) }))).toBe(
          'AUTH_401009',
        );
      }
      expect(codeOf(await change(access, { current_password: current, password: oldPassword }))).toBe('success');
    });
  });

  it('a directory user gets AUTH_403001, whatever the body, and nothing is counted (T279)', async () => {
    const { user, access } = await given();
    await service.database.affected("UPDATE users SET provider = 'ldap', password = NULL WHERE uid = ?", [user.uid]);
    expect(codeOf(await change(access))).toBe('AUTH_403001');
    expect(codeOf(await change(access, { confirm_password: 'other' }))).toBe('AUTH_403001');
    expect(await failures(user.uid)).toBe(0);
  });

  it.each(['current_password', 'password', 'confirm_password'])('%s is required and must be a text', async (field) => {
    const { access } = await given();
    for (const value of [undefined, null, 7, ['x'], { x: 'y' }]) {
      const body = { current_password: oldPassword, password: next, confirm_password: next, [field]: value };
      const answer = await service.post('/user/change-password', body, { bearer: access });
      expect([codeOf(answer), Object.keys(answer.body.data.fields as object)]).toEqual(['COMMON_400001', [field]]);
    }
  });

  it('a refresh token is no access token here', async () => {
    const { refresh: token } = await given();
    expect(codeOf(await change(token))).toBe('AUTH_401001');
  });

  describe('what ends the session while the current password is compared', () => {
    it.each<[string, (given: { user: { uid: string }; access: string; name: string }) => Promise<unknown>]>([
      ['a logout', ({ access }) => service.post('/logout', undefined, { bearer: access })],
      [
        'a disabling',
        ({ user }) =>
          service.database.affected(
            'UPDATE users SET status = -1, credential_version = credential_version + 1 WHERE uid = ?',
            [user.uid],
          ),
      ],
      [
        'a password that an operator sets',
        ({ user }) =>
          service.app
            .get(UsersRepository)
            .setPassword(service.database, user.uid, '$2b$04$abcdefghijklmnopqrstuu5Lr0j4nQZ4Jz6sWq1c9y2mV8tBxKdGi', {
              temporary: false,
            }),
      ],
    ])('%s leaves the password of then and no new token: AUTH_401004 (T277)', async (_what, end) => {
      const owner = await given();
      const hasher = service.app.get(PasswordHasher);
      const matches = hasher.matches.bind(hasher);
      let then: unknown;
      jest.spyOn(hasher, 'matches').mockImplementationOnce(async (...compared) => {
        await end(owner);
        then = await service.userRow(owner.user.uid);
        return matches(...compared);
      });
      expect(codeOf(await change(owner.access))).toBe('AUTH_401004');
      expect(await service.userRow(owner.user.uid)).toEqual(then);
      expect(await me(owner.access)).toBe('AUTH_401004');
      expect(await service.count('login_tokens', 'user_identity = ?', [owner.user.uid])).toBe(2);
    });
  });

  it('a token of before a password change does not even try the new password: AUTH_401004, nothing is counted', async () => {
    const { user, access } = await given();
    const users = service.app.get(UsersRepository);
    const find = users.findByUid.bind(users);
    jest.spyOn(users, 'findByUid').mockImplementationOnce(async (uid) => {
      await service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
        uid,
      ]);
      return find(uid);
    });
    expect(codeOf(await change(access, { current_password: 'wrong' }))).toBe('AUTH_401004');
    expect(await failures(user.uid)).toBe(0);
  });

  it('a user who is deleted after the check of the token: AUTH_401004', async () => {
    const { access } = await given();
    jest.spyOn(service.app.get(UsersRepository), 'findByUid').mockResolvedValueOnce(null);
    expect(codeOf(await change(access))).toBe('AUTH_401004');
  });

  it('a parallel change to the same password that commits before the reuse is checked: AUTH_401004, not AUTH_401009', async () => {
    const { user, access } = await given();
    const history = service.app.get(PasswordHistory);
    const read = history.lastHashes.bind(history);
    jest.spyOn(history, 'lastHashes').mockImplementationOnce(async (owner) => {
      const hash = await service.app.get(PasswordHasher).hash(next, { ip: 'test' });
      await service.app.get(UsersRepository).setPassword(service.database, user.uid, hash, { temporary: false });
      await history.append(service.database, user.uid, changeType.own, hash);
      return read(owner);
    });
    expect(codeOf(await change(access))).toBe('AUTH_401004');
  });

  it('a forced change that is still open is closed as well', async () => {
    const { user, access } = await given();
    const token = await service.app.get(PasswordChangeRequests).openForced(user, changeType.expired);
    expect(codeOf(await change(access))).toBe('success');
    expect(codeOf(await submit(service, token, goodPassword(5)))).toBe('AUTH_401007');
  });
});
