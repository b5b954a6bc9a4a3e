import { TestService } from '../support/app';
import { codeOf, goodPassword, look, mailedToken, submit, uuid4, verdicts } from '../support/reset';

describe('GET /user/change-pwd-req/{uid}', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  /** A user with a link of type 2. */
  const given = async (name: string) => {
    const user = await service.givenUser(name);
    return { user, token: await mailedToken(service, `${name}@example.com`) };
  };

  const statusOf = async (userId: string) => {
    const rows = await service.database.rows<{ status: number }>(
      'SELECT status FROM user_change_password_request WHERE user_id = ?',
      [userId],
    );
    return rows.map(({ status }) => status);
  };

  it('tells the login name to the holder of a live link, and nothing to the holder of another one', async () => {
    const { token } = await given('Named.User');
    expect((await look(service, token)).body.data).toMatchObject({ login_name: 'Named.User', type: 2 });
    const dead = { expired: (await given('t.expired')).token, used: (await given('t.used')).token };
    expect(codeOf(await submit(service, dead.used, goodPassword(1)))).toBe('success');
    service.clock.advanceSeconds(1801);
    for (const uid of [dead.expired, dead.used, '3f2504e0-4f89-41d3-9a0c-0305e82c3301']) {
      expect((await look(service, uid)).body).toEqual({ error_code: expect.any(String), msg: expect.any(String) });
    }
  });

  it('only the link tells the login name: /forget-password never does', async () => {
    await service.givenUser('silent');
    const { body } = await service.post('/forget-password', { email: 'silent@example.com' });
    expect(Object.keys(body.data)).toEqual(['uid', 'user_id', 'type', 'status', 'expired', 'created_at']);
    expect(codeOf(await look(service, body.data.uid as string))).toBe('AUTH_401003');
  });

  it('answers with the request, without its token', async () => {
    const { user, token } = await given('shown');
    const created = service.clock.now();
    service.clock.advanceSeconds(60);
    const answer = await look(service, token);
    expect(answer.body).toEqual({
      status: true,
      data: {
        uid: expect.stringMatching(uuid4),
        user_id: user.uid,
        type: 2,
        status: 0,
        expired: new Date(created.getTime() + 1_800_000).toISOString(),
        created_at: created.toISOString(),
        login_name: 'shown',
      },
    });
    expect(answer.raw.toString()).not.toContain(token);
  });

  it('forbids caches to store the answer, and browsers to send the link as a referrer (T142)', async () => {
    const { token } = await given('t142');
    for (const answer of [await look(service, token), await look(service, 'x'), await submit(service, token, 'weak')]) {
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    }
  });

  it('opening the link does not use it up, however often and with whatever method (T105, T216, W28)', async () => {
    const { user, token } = await given('t105');
    for (let i = 0; i < 50; i++) expect((await look(service, token)).body.data.type).toBe(2);
    const head = await service.send('HEAD', `/user/change-pwd-req/${token}`);
    expect([head.status, head.raw.length]).toEqual([200, 0]);
    for (const method of ['PUT', 'DELETE', 'PATCH'] as const) {
      expect((await service.send(method, `/user/change-pwd-req/${token}`)).status).toBe(405);
    }
    expect((await service.send('POST', `/user/change-pwd-req/${token}`, {})).status).toBe(405);
    expect(await statusOf(user.uid)).toEqual([0]);
    expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
    expect((await service.send('HEAD', `/user/change-pwd-req/${token}`)).status).toBe(401);
  });

  it('an unknown uid is answered with 401 AUTH_401003, on GET and on POST (T106, W41)', async () => {
    const unknown = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';
    expect((await look(service, unknown)).status).toBe(401);
    expect(await verdicts(service, unknown)).toEqual(['AUTH_401003', 'AUTH_401003']);
  });

  describe('a malformed uid is answered with AUTH_401003 (T210, T211)', () => {
    let token = '';
    beforeAll(async () => {
      ({ token } = await given('t210'));
    });

    it.each<[string, (token: string) => string]>([
      ['a word', () => 'undefined'],
      ['null', () => 'null'],
      ['NaN', () => 'NaN'],
      ['[object Object]', () => '[object Object]'],
      ['NUL', () => '\0'],
      ['a path', () => '../../user/me'],
      ['a matrix parameter', (t) => `${t};x=1`],
      ['SQL', () => `' OR 1=1-- `],
      ['a wildcard', () => '%'],
      ['an emoji', () => '🔑'],
      ['upper case', (t) => t.toUpperCase()],
      ['braces', (t) => `{${t}}`],
      ['no dashes', (t) => t.replaceAll('-', '')],
      ['a trailing space', (t) => `${t} `],
      ['a leading space', (t) => ` ${t}`],
      ['NUL behind', (t) => `${t}\0`],
      ['full-width digits', (t) => t.replace(/\d/, (d) => String.fromCharCode(0xff10 + Number(d)))],
      ['a hash of the token', () => 'a'.repeat(64)],
      ['101 characters', () => 'a'.repeat(101)],
      ['8 kB', () => 'a'.repeat(8192)],
    ])('%s', async (_name, make) => {
      const uid = make(token);
      expect(codeOf(await look(service, encodeURIComponent(uid)))).toBe('AUTH_401003');
      expect(codeOf(await submit(service, uid, goodPassword(1)))).toBe('AUTH_401003');
    });

    it.each([
      ['an escape that is no UTF-8', '%ff'],
      ['half an escape', '%e'],
      ['a raw path', '../../user/me'],
      ['an escaped path', '..%2f..%2fuser%2fme'],
      ['another segment', 'x/y'],
      ['nothing', ''],
      ['dots', '%2e%2e'],
    ])('%s is refused with an error in the envelope', async (_name, raw) => {
      const { status, headers, body } = await service.get(`/user/change-pwd-req/${raw}`);
      expect([400, 401, 404]).toContain(status);
      expect(body).toEqual({
        error_code: expect.stringMatching(new RegExp(`_${status}\\d{3}$`)),
        msg: expect.any(String),
      });
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    });
  });

  it('a link is valid for 1800 s, then GET and POST answer AUTH_401005, and its row stays pending (T107)', async () => {
    const { user, token } = await given('t107');
    service.clock.advanceSeconds(1800);
    expect(codeOf(await look(service, token))).toBe('success');
    service.clock.advanceSeconds(0.001);
    expect(await verdicts(service, token)).toEqual(['AUTH_401005', 'AUTH_401005']);
    expect((await look(service, token)).status).toBe(401);
    expect(await statusOf(user.uid)).toEqual([0]);
  });

  it('a used link is answered with AUTH_401007 on GET and POST, also after it has expired (T109, T110)', async () => {
    const { user, token } = await given('t109');
    expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
    expect(await verdicts(service, token)).toEqual(['AUTH_401007', 'AUTH_401007']);
    service.clock.advanceSeconds(1801);
    expect(await verdicts(service, token)).toEqual(['AUTH_401007', 'AUTH_401007']);
    expect(await statusOf(user.uid)).toEqual([1]);
  });

  it('a link ends when the credentials of its user change (ADR 0005)', async () => {
    const { user, token } = await given('versioned');
    await service.database.affected('UPDATE users SET credential_version = credential_version + 1 WHERE uid = ?', [
      user.uid,
    ]);
    expect(await verdicts(service, token)).toEqual(['AUTH_401007', 'AUTH_401007']);
  });

  it('the link of a deleted user or of a user who moved to the directory is answered as unknown', async () => {
    const moved = await given('moved');
    await service.database.affected(`UPDATE users SET provider = 'ldap' WHERE uid = ?`, [moved.user.uid]);
    expect(await verdicts(service, moved.token)).toEqual(['AUTH_401003', 'AUTH_401003']);
    const gone = await given('gone');
    await service.database.affected('DELETE FROM users WHERE uid = ?', [gone.user.uid]);
    expect(await verdicts(service, gone.token)).toEqual(['AUTH_401003', 'AUTH_401003']);
    expect(await statusOf(gone.user.uid)).toEqual([0]);
  });

  it('needs no JWT and ignores an invalid one', async () => {
    const { token } = await given('anonymous');
    expect((await service.get(`/user/change-pwd-req/${token}`, { bearer: 'nonsense' })).status).toBe(200);
  });
});
