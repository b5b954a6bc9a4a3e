import { TestService } from '../support/app';
import { MfaClient, wrongCode } from '../support/mfa';
import { codeOf } from '../support/reset';

const history = async (service: TestService, bearer: string, query = '') =>
  (await service.get(`/user/login-history${query}`, { bearer })).body.data.logins as Record<string, unknown>[];

describe('GET /user/login-history', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  it('lists the logins of the user, the newest first, failed ones included, and nothing of other users (T280)', async () => {
    await service.givenUser('ann');
    await service.givenUser('bob');
    const start = service.clock.now();
    const from = { ip: '203.0.113.7', headers: { 'user-agent': 'Firefox' } };
    await service.login('ann', 'wrong', {}, from);
    service.clock.advanceSeconds(1);
    await service.login(
      'ANN ',
      'wrong',
      { provider: 'ldap' },
      { ip: '2001:db8::7', headers: { 'user-agent': 'curl' } },
    );
    await service.login('bob');
    await service.login('nobody');
    service.clock.advanceSeconds(1);
    const { body } = await service.login('ann', undefined, {}, from);
    const at = (seconds: number) => new Date(start.getTime() + seconds * 1000).toISOString();
    const firefox = { ip: '203.0.113.7', user_agent: 'Firefox', provider: 'password', mfa: null };
    expect(await history(service, body.data.access_token as string)).toEqual([
      { created_at: at(2), ...firefox, outcome: 'success' },
      {
        created_at: at(1),
        ip: '2001:db8::7',
        user_agent: 'curl',
        provider: 'ldap',
        mfa: null,
        outcome: 'LOGIN_401001',
      },
      { created_at: at(0), ...firefox, outcome: 'LOGIN_401001' },
    ]);
  });

  describe('limit', () => {
    let access: string;
    beforeAll(async () => {
      const { uid } = await service.givenUser('many');
      ({ access } = await service.session('many'));
      const { database, clock } = service;
      // Several logins of the same millisecond: the later row is the newer one.
      for (let n = 0; n < 120; n++) {
        await database.affected(
          `INSERT INTO login_logs (user_id, login_name, provider, ip, user_agent, outcome, mfa, request_id, created_at)
           VALUES (?, 'many', 'password', '192.0.2.1', ?, 'success', NULL, 'x', ?)`,
          [uid, `agent ${n}`, clock.secondsFromNow(n < 100 ? 10 : 20)],
        );
      }
    });

    it('is 20 by default, and at most 100', async () => {
      const agents = async (query: string) =>
        (await history(service, access, query)).map(({ user_agent }) => String(user_agent));
      const newest = (count: number) => Array.from({ length: count }, (_, n) => `agent ${119 - n}`);
      expect(await agents('')).toEqual(newest(20));
      for (const limit of [1, 9, 10, 99, 100]) expect(await agents(`?limit=${limit}`)).toEqual(newest(limit));
    });

    it.each(['0', '101', '-1', '+5', '1.5', '1e1', '', '%20', '05', 'x', '1%00', '٣', '1&limit=2', '10%20'])(
      '%j is COMMON_400001 and names the field',
      async (limit) => {
        const { status, body } = await service.get(`/user/login-history?limit=${limit}`, { bearer: access });
        expect([status, body.error_code, Object.keys(body.data.fields as object)]).toEqual([
          400,
          'COMMON_400001',
          ['limit'],
        ]);
        expect(String(body.data.fields.limit)).toMatch(/1 to 100/);
      },
    );

    it('an unknown parameter changes nothing, not even one with the name of a column', async () => {
      expect(await history(service, access, '?user_id=x&after=1&limit=1')).toHaveLength(1);
    });
  });

  it('no refresh token reads it', async () => {
    await service.givenUser('cid');
    const { refresh } = await service.session('cid');
    expect(codeOf(await service.get('/user/login-history', { bearer: refresh }))).toBe('AUTH_401001');
  });
});

describe('the login history with a second factor', () => {
  it('shows wrong codes and the factor of the finished login', () =>
    MfaClient.with({}, async (mfa) => {
      const user = await mfa.givenUser('factor');
      await mfa.service.login('factor', 'wrong');
      const { uid, mfaToken, code } = await mfa.logInByMail(user);
      mfa.service.clock.advanceSeconds(1);
      await mfa.verify(uid, 'email', wrongCode(code), { mfa_token: mfaToken });
      mfa.service.clock.advanceSeconds(1);
      const { body } = await mfa.verify(uid, 'email', code, { mfa_token: mfaToken });
      const logins = await history(mfa.service, body.data.access_token as string);
      expect(logins.map(({ outcome, mfa: factor }) => [outcome, factor])).toEqual([
        ['success', 'email'],
        ['MFA_401001', 'email'],
        ['LOGIN_401001', null],
      ]);
    }));
});
