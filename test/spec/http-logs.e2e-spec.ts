import { decodeJwt } from 'jose';
import { password, TestService } from '../support/app';
import { captchaToken } from '../support/settings';

const wrong = 'Canary-Wrong-Password-1';

describe('logs', () => {
  let service: TestService;
  beforeEach(async () => {
    service = await TestService.start();
  });
  afterEach(() => service.stop());

  const lines = () => service.logLines.map((line) => JSON.stringify(line));
  const requests = () => service.logLines.filter((line) => line.msg === 'request');

  it('T267 an answer and its log line have the same request id', async () => {
    const answers = [
      await service.get('/health/live'),
      await service.login('nobody', 'wrong'),
      await service.get('/nowhere'),
      await service.send('POST', '/login', '{', { headers: { 'content-type': 'application/json' } }),
      await service.send('POST', '/login', 'x', { headers: { 'content-type': 'text/plain' } }),
      await service.send('PUT', '/login'),
    ];
    const ids = answers.map(({ headers }) => headers['x-request-id']);
    expect(new Set(ids).size).toBe(ids.length);
    // Probes are not logged at this level.
    expect(requests().map((line) => line.requestId)).toEqual(ids.slice(1));
    expect(requests().map((line) => line.errorCode)).toEqual([
      'LOGIN_404001',
      'COMMON_404001',
      'COMMON_400001',
      'COMMON_415001',
      'COMMON_405001',
    ]);
  });

  it('a well-formed X-Request-Id is kept, and any other value is replaced', async () => {
    const given = 'gateway-0123456789';
    expect((await service.get('/nowhere', { headers: { 'x-request-id': given } })).headers['x-request-id']).toBe(given);
    for (const id of [
      '',
      'short',
      'x'.repeat(65),
      'a b c d e f g h',
      '"}\u007f{"a":"b',
      'abcdefgh;ijkl',
      'ä'.repeat(10),
    ]) {
      const { headers } = await service.get('/nowhere', { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
    expect((await service.login('nobody', 'x', {}, { headers: { 'x-request-id': given } })).status).toBe(404);
    const row = await service.database.row<{ request_id: string }>('SELECT request_id FROM login_logs');
    expect(row?.request_id).toBe(given);
  });

  it('W47 contain no password, token, header, query or body, whatever the outcome of a request', async () => {
    const user = await service.givenUser('watched');
    const opened = await service.session('watched');
    const { body } = await service.post('/refresh', { refresh_token: opened.refresh });
    const tokens = [opened.access, opened.refresh, body.data.access_token as string];
    await service.login('watched', wrong);
    await service.login(wrong, wrong);
    await service.login('watched', password, { captcha_token: 'canary-captcha' });
    await service.post('/verify-captcha', { captcha_token: 'canary-captcha' });
    await service.get('/user/me', { bearer: opened.access });
    await service.get('/user/me', { bearer: `${opened.access}x` });
    await service.get('/user/me', {
      headers: { authorization: 'Basic Y2FuYXJ5LWJhc2lj', cookie: 'session=canary-cookie' },
    });
    await service.get('/canary-path/6f1c1d0e-9d5c-4f3e-8a6e-0123456789ab');
    await service.get('/user/me?access_token=canary-query');
    await service.send('POST', '/login', `{"password":"canary-broken`, {
      headers: { 'content-type': 'application/json' },
    });
    await service.post('/logout', undefined, { bearer: opened.access });
    await service.get('/user/me', { bearer: opened.access });
    // The database fails: drivers quote the statement with its values in their errors.
    await service.database.affected('ALTER TABLE users RENAME TO users_away');
    expect((await service.login('watched')).status).toBeGreaterThanOrEqual(500);
    expect((await service.get('/user/me', { bearer: opened.refresh })).status).toBeGreaterThanOrEqual(401);
    await service.database.affected('ALTER TABLE users_away RENAME TO users');

    const row = await service.userRow(user.uid);
    const everything = lines().join('\n');
    expect(requests().length).toBeGreaterThan(14);
    for (const secret of [
      ...tokens.flatMap((token) => [token, token.split('.')[1] ?? '', token.split('.')[2] ?? '']),
      ...tokens.map((token) => String(decodeJwt(token).jti)),
      password,
      wrong,
      captchaToken,
      row.password as string,
      row.salt as string,
      'canary',
      'Canary',
      'Y2FuYXJ5',
      'Bearer',
      'watched@example.com',
    ]) {
      expect(everything).not.toContain(secret);
    }
  });

  it('T206 W47 control characters in a user name or a user agent cannot forge or colour a log line', async () => {
    const forged = `x\r\n{"level":30,"msg":"forged"}\n\u001b[2J\u009b31m\${jndi:ldap://127.0.0.1/a}%n`;
    const before = service.logLines.length;
    const { headers } = await service.login(
      forged,
      'wrong',
      {},
      { headers: { 'user-agent': '\u001b[31m${jndi:x} %n' } },
    );
    const added = service.logLines.slice(before);
    const own = added.filter((line) => line.requestId === headers['x-request-id']);
    expect(own.map((line) => line.msg)).toEqual(['request']);

    expect(added.map((line) => JSON.stringify(line)).join()).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|jndi|forged/);
    const row = await service.database.row<{ login_name: string; outcome: string }>(
      'SELECT login_name, outcome FROM login_logs',
    );
    expect(row).toMatchObject({ login_name: forged, outcome: 'LOGIN_404001' });
  });

  it('T268 long names do not make long log lines', async () => {
    await service.login('n'.repeat(255), 'wrong', {}, { headers: { 'user-agent': 'u'.repeat(8000) } });
    await service.login('n'.repeat(15_000), 'wrong');
    await service.get(`/${'p'.repeat(8000)}`);
    await service.get(`/nowhere?${'q'.repeat(8000)}`);
    await service.post('/login', { username: 'n'.repeat(10_000_000), password: 'x', captcha_token: captchaToken });
    expect(requests()).toHaveLength(5);
    for (const line of requests()) expect(JSON.stringify(line).length).toBeLessThan(500);
    const row = await service.database.row<{ user_agent: string }>('SELECT user_agent FROM login_logs');
    expect(row?.user_agent).toHaveLength(512);
  });

  it('a request that a database failure refuses is one line with the error code, without the statement and the stack', async () => {
    await service.givenUser('unlucky');
    await service.database.affected('ALTER TABLE users RENAME TO users_away');
    const { status, body, headers } = await service.login('unlucky');
    expect([status, body.error_code]).toEqual([503, 'COMMON_503001']);
    const told = service.logLines.filter((line) => line.requestId === headers['x-request-id']);
    const err = { code: expect.stringMatching(/^(ER_NO_SUCH_TABLE|SQLITE_ERROR)$/) };
    expect(told).toHaveLength(1);
    expect(told).toMatchObject([{ level: 40, msg: 'request', errorCode: 'COMMON_503001', err }]);
    expect(JSON.stringify(told)).not.toMatch(/SELECT |FROM .?users|unlucky|stack/);
  });
});
