import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { UserSessions } from '../../src/sessions/user-sessions';
import { TokenRevoker } from '../../src/sessions/token-revoker';
import { type Request, TestService } from '../support/app';
import { MfaClient } from '../support/mfa';
import { codeOf } from '../support/reset';
import { captchaToken, password } from '../support/settings';

interface Listed {
  readonly sid: string;
  readonly created_at: string;
  readonly last_used_at: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  readonly amr: string[];
  readonly current: boolean;
}

const sidOf = (token: string) => String(decodeJwt(token).sid);

describe.each(['false', 'true'])('the sessions of a user, with REFRESH_TOKEN_ROTATION=%s', (rotation) => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ REFRESH_TOKEN_ROTATION: rotation });
  });
  afterAll(() => service.stop());

  let users = 0;
  const given = async () => (await service.givenUser(`user${++users}`)).loginName;
  const logIn = async (username: string, request: Request = {}) => {
    const { body } = await service.post('/login', { username, password, captcha_token: captchaToken }, request);
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  };
  const refreshed = async (bearer: string) => {
    const { body } = await service.post('/refresh', undefined, { bearer });
    return { access: body.data.access_token as string, refresh: body.data.refresh_token as string };
  };
  const list = async (bearer: string): Promise<Listed[]> =>
    (await service.get('/user/sessions', { bearer })).body.data.sessions as Listed[];
  const end = (bearer: string, sid: string) => service.send('DELETE', `/user/sessions/${sid}`, undefined, { bearer });
  const endOthers = (bearer: string) => service.send('DELETE', '/user/sessions', undefined, { bearer });
  const me = async (bearer: string) => codeOf(await service.get('/user/me', { bearer }));
  const refresh = async (bearer: string) => codeOf(await service.post('/refresh', undefined, { bearer }));

  it('GET lists what each login showed of its client, the newest first, and marks the current session', async () => {
    const name = await given();
    const start = service.clock.now();
    const first = await logIn(name, { ip: '203.0.113.7', headers: { 'user-agent': 'Firefox' } });
    service.clock.advanceSeconds(1);
    const second = await logIn(name, { ip: '2001:db8::7', headers: { 'user-agent': '浏览器' } });
    const shown = (n: number, more: object) => {
      const at = new Date(start.getTime() + n * 1000).toISOString();
      return { created_at: at, last_used_at: at, amr: ['pwd'], current: false, ...more };
    };
    const one = { sid: sidOf(first.access), ip: '203.0.113.7', user_agent: 'Firefox' };
    const two = { sid: sidOf(second.access), ip: '2001:db8::7', user_agent: expect.any(String) };
    expect(await list(first.access)).toEqual([shown(1, two), shown(0, { ...one, current: true })]);
    expect(await list(second.access)).toEqual([shown(1, { ...two, current: true }), shown(0, one)]);
  });

  it('of sessions that began at the same moment, the one that was used last comes first', async () => {
    const name = await given();
    const began = [await logIn(name), await logIn(name), await logIn(name), await logIn(name)];
    for (const { access, refresh } of began) {
      service.clock.advanceSeconds(60);
      await refreshed(refresh);
      const used = (await list(access)).map(({ last_used_at }) => last_used_at);
      expect(used).toEqual([...used].sort().reverse());
      expect(used[0]).toBe(service.clock.now().toISOString());
    }
  });

  it('last_used_at moves at a refresh, not at another request, and the other fields stay those of the login', async () => {
    const name = await given();
    let session = await logIn(name, { ip: '203.0.113.7' });
    const [before] = await list(session.access);
    for (const seconds of [60, 600]) {
      service.clock.advanceSeconds(seconds);
      await service.get('/user/me', { bearer: session.access });
      session = await refreshed(session.refresh);
      const used = service.clock.now().toISOString();
      service.clock.advanceSeconds(30);
      expect(await me(session.access)).toBe('success');
      expect(await list(session.access)).toEqual([{ ...before, last_used_at: used }]);
    }
  });

  it('a session that was logged out, revoked or has expired is not listed', async () => {
    const name = await given();
    const { access: loggedOut } = await logIn(name);
    await service.post('/logout', undefined, { bearer: loggedOut });
    const old = await logIn(name);
    service.clock.advanceSeconds(7 * 86_400 - 1);
    const { access } = await logIn(name);
    expect((await list(access)).map(({ sid }) => sid)).toEqual([sidOf(access), sidOf(old.access)]);
    service.clock.advanceSeconds(1);
    const last = await logIn(name);
    expect((await list(last.access)).map(({ sid }) => sid)).toEqual([sidOf(last.access), sidOf(access)]);
    const { uid } = (await service.get('/user/me', { bearer: last.access })).body.data;
    await service.database.transaction((tx) => service.app.get(TokenRevoker).revokeAll(tx, uid as string));
    expect(await service.app.get(UserSessions).list(uid as string)).toEqual([]);
  });

  it('a session of a version that stored nothing is listed without a client, and can be ended', async () => {
    const name = await given();
    const old = await logIn(name);
    await service.database.affected(
      'UPDATE login_tokens SET ip = NULL, user_agent = NULL, amr = NULL, authenticated_at = NULL WHERE sid = ?',
      [sidOf(old.access)],
    );
    const at = service.clock.now().toISOString();
    const bare = { sid: sidOf(old.access), created_at: at, last_used_at: at, ip: null, user_agent: null };
    expect(await list(old.access)).toEqual([{ ...bare, amr: ['pwd'], current: true }]);
    service.clock.advanceSeconds(1);
    const { access } = await logIn(name);
    expect((await list(access))[1]).toEqual({ ...bare, amr: [], current: false });
    expect(codeOf(await end(access, sidOf(old.access)))).toBe('success');
    expect(await me(old.access)).toBe('AUTH_401004');
  });

  it('DELETE ends one session with all its tokens, and no other one', async () => {
    const name = await given();
    const [lost, kept, own] = [await logIn(name), await logIn(name), await logIn(name)];
    const later = await refreshed(lost.refresh);
    const answer = await end(own.access, sidOf(lost.access));
    expect([answer.status, answer.body]).toEqual([200, { status: true, data: { result: true, ended: 1 } }]);
    expect([await me(lost.access), await me(later.access)]).toEqual(['AUTH_401004', 'AUTH_401004']);
    expect([await refresh(lost.refresh), await refresh(later.refresh)]).toEqual(['AUTH_401006', 'AUTH_401006']);
    expect([await me(kept.access), await refresh(kept.refresh), await me(own.access)]).toEqual(
      Array(3).fill('success'),
    );
    expect(codeOf(await end(own.access, sidOf(lost.access)))).toBe('USER_404001');
  });

  it('DELETE of the own session is a logout', async () => {
    const { access, refresh: token } = await logIn(await given());
    expect(codeOf(await end(access, sidOf(access)))).toBe('success');
    expect([await me(access), await refresh(token)]).toEqual(['AUTH_401004', 'AUTH_401006']);
  });

  it('DELETE of all ends all but the current one and tells how many', async () => {
    const name = await given();
    const others = [await logIn(name), await logIn(name), await logIn(name)];
    const stranger = await logIn(await given());
    const own = await logIn(name);
    await service.post('/logout', undefined, { bearer: others[2]!.access });
    const answer = await endOthers(own.access);
    expect([answer.status, answer.body]).toEqual([200, { status: true, data: { result: true, ended: 2 } }]);
    for (const { access, refresh: token } of others) {
      expect([await me(access), await refresh(token)]).toEqual(['AUTH_401004', 'AUTH_401006']);
    }
    expect([await me(own.access), await refresh(own.refresh), await me(stranger.access)]).toEqual(
      Array(3).fill('success'),
    );
    expect((await endOthers(own.access)).body.data).toEqual({ result: true, ended: 0 });
  });

  it('the ends are audited with the session that asked', async () => {
    const name = await given();
    const [lost, own] = [await logIn(name), await logIn(name)];
    await logIn(name);
    await end(own.access, sidOf(lost.access));
    await endOthers(own.access);
    const { uid } = (await service.get('/user/me', { bearer: own.access })).body.data;
    const rows = await service.database.rows<{ event: string; detail: string }>(
      'SELECT event, detail FROM audit_logs WHERE user_id = ? ORDER BY id',
      [uid as string],
    );
    const by = sidOf(own.access);
    expect(rows.map(({ event, detail }) => [event, JSON.parse(detail)])).toEqual([
      ['SESSION_CLOSED', { sid: sidOf(lost.access), by }],
      ['OTHER_SESSIONS_CLOSED', { ended: 1, by }],
    ]);
  });

  it('a session of another user is USER_404001 like nonsense, is not ended, and is never listed (T280)', async () => {
    const own = await logIn(await given());
    const stranger = await logIn(await given());
    const sid = sidOf(stranger.access);
    const jti = String(decodeJwt(stranger.access).jti);
    for (const id of [
      sid,
      sid.toUpperCase(),
      `${sid}%20`,
      // MariaDB ignores spaces at the end of a text that it compares.
      `${sidOf(own.access)}%20`,
      `%20${sid}`,
      `${sid}%00`,
      jti,
      randomUUID(),
      'x',
      '%25',
      "'%20OR%201=1",
      '%F0%9F%98%80',
      String(decodeJwt(own.access).jti),
    ]) {
      expect({ id, code: codeOf(await end(own.access, id)) }).toEqual({ id, code: 'USER_404001' });
    }
    expect([await me(stranger.access), await refresh(stranger.refresh)]).toEqual(['success', 'success']);
    expect((await list(own.access)).map((session) => session.sid)).toEqual([sidOf(own.access)]);
  });

  it('a path that ends with a slash names no session, and does not end all of them (T280)', async () => {
    const name = await given();
    const [other, own] = [await logIn(name), await logIn(name)];
    expect(codeOf(await end(own.access, ''))).toBe('COMMON_404001');
    expect(await me(other.access)).toBe('success');
  });

  it('no refresh token lists or ends sessions', async () => {
    const { refresh: token } = await logIn(await given());
    expect(codeOf(await service.get('/user/sessions', { bearer: token }))).toBe('AUTH_401001');
    expect(codeOf(await endOthers(token))).toBe('AUTH_401001');
    expect(codeOf(await end(token, sidOf(token)))).toBe('AUTH_401001');
  });
});

describe('a session with a second factor', () => {
  it('shows it in amr, also after a change of the password', () =>
    MfaClient.with({}, async (mfa) => {
      const user = await mfa.givenUser('mfa');
      const { uid, mfaToken, code } = await mfa.logInByMail(user);
      const { body } = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken });
      const next = 'Another-Horse-8';
      const sessions = async (bearer: string) =>
        (await mfa.service.get('/user/sessions', { bearer })).body.data.sessions;
      const shown = [expect.objectContaining({ amr: ['pwd', 'otp'], ip: '127.0.0.1', current: true })];
      const access = body.data.access_token as string;
      expect(await sessions(access)).toEqual(shown);
      const changed = await mfa.service.post(
        '/user/change-password',
        { current_password: password, password: next, confirm_password: next },
        { bearer: access },
      );
      expect(await sessions(changed.body.data.access_token as string)).toEqual(shown);
    }));
});
