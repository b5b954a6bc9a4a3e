import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { DataSource } from 'typeorm';
import { type Answer, TestService } from '../support/app';
import { countStatements } from '../support/count-statements';
import { codeOf, linkIn, look, mailedToken, newMails, recipients, submit, uuid4, goodPassword } from '../support/reset';

const requests = (service: TestService, uid: string) =>
  service.database.rows<Record<string, any>>(
    'SELECT * FROM user_change_password_request WHERE user_id = ? ORDER BY created_at, status DESC',
    [uid],
  );

describe('POST /forget-password', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  const ask = (email: unknown, more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
    service.post('/forget-password', { email, ...more }, { headers });

  it('answers with a request that is valid for 30 minutes, mails one link and writes the audit row USER_RESET_PASSWORD (T098, T102)', async () => {
    const user = await service.givenUser('t098');
    const answer = await ask('t098@example.com');
    expect(answer.status).toBe(200);
    const created = service.clock.now();
    expect(answer.body).toEqual({
      status: true,
      data: {
        uid: expect.stringMatching(uuid4),
        user_id: user.uid,
        type: 2,
        status: 0,
        expired: new Date(created.getTime() + 1_800_000).toISOString(),
        created_at: created.toISOString(),
      },
    });
    const mails = await newMails(service);
    expect(mails).toHaveLength(1);
    expect(recipients(mails[0])).toEqual(['t098@example.com']);
    const link = linkIn(mails[0]);
    expect(link.href).toMatch(/^http:\/\/portal\.test\/reset-password\?uid=[0-9a-f-]{36}&lang=en$/);
    expect(mails[0]?.html).toContain(link.href.replaceAll('=', '&#x3D;').replace('&lang', '&amp;lang'));
    expect(
      await service.database.rows('SELECT event, user_id, ip FROM audit_logs WHERE user_id = ?', [user.uid]),
    ).toEqual([{ event: 'USER_RESET_PASSWORD', user_id: user.uid, ip: '127.0.0.1' }]);
  });

  it('the uid in the answer cannot be used as a link (T099, W01)', async () => {
    await service.givenUser('t099');
    const { uid } = (await ask('t099@example.com')).body.data as { uid: string };
    expect(codeOf(await look(service, uid))).toBe('AUTH_401003');
    expect(codeOf(await submit(service, uid, goodPassword(1)))).toBe('AUTH_401003');
    expect((await service.login('t099')).status).toBe(200);
  });

  it('the token is stored only as a hash, and appears in no log and no audit row (T138, T266, W27)', async () => {
    const user = await service.givenUser('t138');
    const token = await mailedToken(service, 't138@example.com');
    await look(service, token);
    await submit(service, token, 'weak', 'weak');
    const tables = ['user_change_password_request', 'audit_logs', 'mail_outbox', 'cooldowns', 'login_logs', 'users'];
    const rows = await Promise.all(tables.map((table) => service.database.rows(`SELECT * FROM ${table}`)));
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(service.logLines)).not.toContain(token);
    expect((await requests(service, user.uid))[0]?.token_hash).toHaveLength(64);
  });

  it('an unknown address is answered with 404 AUTH_404002, without a row or a mail (T103)', async () => {
    const before = await service.count('user_change_password_request');
    const answer = await ask('nobody@example.com');
    expect(answer.status).toBe(404);
    expect(codeOf(answer)).toBe('AUTH_404002');
    expect(await service.count('user_change_password_request')).toBe(before);
    expect(await newMails(service)).toEqual([]);
  });

  it('disabled users and directory users are answered with AUTH_404002 and get no mail (T144, W19)', async () => {
    await service.givenUser('disabled', { status: -1 });
    await service.givenUser('directory', { provider: 'ldap' });
    expect(codeOf(await ask('disabled@example.com'))).toBe('AUTH_404002');
    expect(codeOf(await ask('directory@example.com'))).toBe('AUTH_404002');
    expect(await newMails(service)).toEqual([]);
  });

  it.each([0, -2])('a user with status %i can request a link', async (status) => {
    await service.givenUser(`status${status}`, { status });
    expect((await ask(`status${status}@example.com`)).status).toBe(200);
  });

  it('a user without a password can request a link', async () => {
    await service.givenUser('passwordless', { password: null });
    expect((await ask('passwordless@example.com')).status).toBe(200);
  });

  it('a second request within 300 s is answered with AUTH_429002, mails nothing and leaves the first link valid (T104)', async () => {
    await service.givenUser('t104');
    const first = await mailedToken(service, 't104@example.com');
    service.clock.advanceSeconds(12);
    const refused = await ask('t104@example.com');
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({
      error_code: 'AUTH_429002',
      msg: expect.any(String),
      data: { retry_after: 288 },
    });
    expect(refused.headers['retry-after']).toBe('288');
    expect(await newMails(service)).toEqual([]);
    expect(codeOf(await look(service, first))).toBe('success');
    service.clock.advanceSeconds(287);
    expect(codeOf(await ask('t104@example.com'))).toBe('AUTH_429002');
    service.clock.advanceSeconds(1);
    const second = await mailedToken(service, 't104@example.com');
    expect(codeOf(await look(service, first))).toBe('AUTH_401007');
    expect(codeOf(await look(service, second))).toBe('success');
  });

  it('each user has at most one pending request of type 2, and other types and other users are not affected', async () => {
    const user = await service.givenUser('superseded', { passwordSetAt: new Date('2025-01-01T00:00:00Z') });
    await service.givenUser('bystander');
    const forced = (await service.login('superseded')).body.data.change_uid as string;
    const other = await mailedToken(service, 'bystander@example.com');
    for (let i = 0; i < 3; i++) {
      await mailedToken(service, 'superseded@example.com');
      service.clock.advanceSeconds(300);
    }
    const rows = await requests(service, user.uid);
    expect(rows.filter(({ type }) => type === 2).map(({ status }) => status as number)).toEqual([1, 1, 0]);
    expect(codeOf(await look(service, forced))).toBe('success');
    expect(codeOf(await look(service, other))).toBe('success');
  });

  it('when the mail cannot be queued, no request is stored and no throttle begins', async () => {
    const user = await service.givenUser('t-atomic');
    await service.database.affected('ALTER TABLE mail_outbox RENAME TO mail_outbox_away');
    const failed = await ask('t-atomic@example.com');
    await service.database.affected('ALTER TABLE mail_outbox_away RENAME TO mail_outbox');
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect(await requests(service, user.uid)).toEqual([]);
    expect((await ask('t-atomic@example.com')).status).toBe(200);
  });

  describe('the mail goes to the stored address only (W38)', () => {
    it.each([
      ['upper case', 'VICTIM@EXAMPLE.COM'],
      ['a trailing space', 'victim@example.com '],
      ['a full-width @', 'victim＠example.com'],
      ['full-width letters', 'ｖｉｃｔｉｍ@example.com'],
      ['a Kelvin sign that folds to k', 'victim-\u212aelvin@example.com'],
    ])('%s (T132)', async (_name, typed) => {
      const stored = typed.includes('\u212a') ? 'Victim-Kelvin@example.com' : 'Victim@example.com';
      await service.database.affected('DELETE FROM cooldowns');
      await newMails(service);
      await service.givenUser(stored, { email: stored }).catch(() => undefined);
      expect((await ask(typed)).status).toBe(200);
      const mails = await newMails(service);
      expect(mails.map(recipients)).toEqual([[stored]]);
    });

    it.each(['v\u0131ctim@example.com', 'víctim@example.com', 'vi\u0301ctim@example.com', 'victim@ex\u00e4mple.com'])(
      '%s is a different address and gets no mail (T132)',
      async (typed) => {
        await service.database.affected('DELETE FROM cooldowns');
        expect(codeOf(await ask(typed))).toBe('AUTH_404002');
        expect(await newMails(service)).toEqual([]);
      },
    );

    it('victim@example.com. is not a deliverable address and is refused without a mail (T132)', async () => {
      expect(codeOf(await ask('victim@example.com.'))).toBe('COMMON_400001');
      expect(await newMails(service)).toEqual([]);
    });
  });

  it.each<[string, unknown]>([
    ['a list', 'victim@example.com,evil@example.net'],
    ['a list of full-width commas', 'victim@example.com，evil@example.net'],
    ['a list with semicolons', 'victim@example.com;evil@example.net'],
    ['two addresses and a space', 'victim@example.com evil@example.net'],
    ['a header', 'victim@example.com\r\nBcc: evil@example.net'],
    ['a trailing line break', 'victim@example.com\r\n'],
    ['a leading line break', '\nvictim@example.com'],
    ['a line separator inside', 'victim@example.com\u2028evil@example.net'],
    ['NUL', 'victim@example.com\u0000'],
    ['a quoted local part', '"evil@example.net x"@example.com'],
    ['a display name', 'Victim <victim@example.com>'],
    ['a route', '<evil@example.net>victim@example.com'],
    ['a group', 'friends:victim@example.com,evil@example.net;'],
    ['a comment', 'victim(comment)@example.com'],
    ['two @', 'victim@example.com@evil.example.net'],
    ['a full-width second @', 'victim@example.com＠evil.example.net'],
    ['a domain literal', 'victim@[127.0.0.1]'],
    ['no domain', 'victim@'],
    ['no local part', '@example.com'],
    ['no address', 'victim'],
    ['nothing', ''],
    ['blanks', '   '],
    ['255 characters', `${'a'.repeat(60)}@${'b'.repeat(190)}.com`],
    ['an array', ['victim@example.com', 'evil@example.net']],
    ['an array of one', ['victim@example.com']],
    ['an object', { $ne: null }],
    ['a number', 1],
    ['true', true],
    ['null', null],
    ['undefined', undefined],
  ])('%s is answered with COMMON_400001, without a mail (T133, T189, T212)', async (_name, email) => {
    const answer = await ask(email);
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error_code: 'COMMON_400001',
      msg: expect.any(String),
      data: { fields: { email: expect.any(Array) } },
    });
    expect(await newMails(service)).toEqual([]);
  });

  describe('an address that costs a parser much', () => {
    let statements: ReturnType<typeof countStatements>;
    beforeAll(() => {
      statements = countStatements(service.app.get(DataSource));
    });
    afterAll(() => jest.restoreAllMocks());

    it.each<[string, string, number?]>([
      ['nested brackets', '('.repeat(5000) + 'a@example.com' + ')'.repeat(5000)],
      ['nested quotes', '"'.repeat(7_000) + '@example.com'],
      ['dots', `${'a.'.repeat(7000)}@${'b.'.repeat(100)}com`],
      ['groups', 'g:'.repeat(7000) + 'a@example.com;'],
      ['letters that NFKC expands to eighteen each', '\ufdfa'.repeat(5000) + '@example.com'],
      ['100 kB, which is more than a body may be', '<a@'.repeat(33_000), 413],
    ])('%s is refused before any statement (T134)', async (_name, email, status = 400) => {
      expect(await statements(async () => expect((await ask(email)).status).toBe(status))).toBe(0);
    });
  });

  it('fields that are not in the contract have no effect (T141)', async () => {
    const user = await service.givenUser('t141');
    const answer = await ask('t141@example.com', { user_id: 'x', type: 0, status: 1, expired: '2099-01-01', uid: 'x' });
    expect(answer.body.data).toMatchObject({ user_id: user.uid, type: 2, status: 0 });
    expect(answer.body.data.expired).toBe(new Date(service.clock.now().getTime() + 1_800_000).toISOString());
  });

  describe('the link always begins with SYSTEM_URL, whatever the request says (T130, W29)', () => {
    it.each<[string, Record<string, string>]>([
      ['Host', { host: 'evil.test' }],
      ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.test' }],
      ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https', 'x-forwarded-port': '444' }],
      ['Forwarded', { forwarded: 'host=evil.test;proto=https' }],
      [
        'X-Original-URL and X-Rewrite-URL',
        { 'x-original-url': 'http://evil.test/', 'x-rewrite-url': 'http://evil.test/' },
      ],
      ['Origin and Referer', { origin: 'http://evil.test', referer: 'http://evil.test/' }],
    ])('%s', async (_name, headers) => {
      await service.database.affected('DELETE FROM cooldowns');
      await service.givenUser('t130').catch(() => undefined);
      expect((await ask('t130@example.com', {}, headers)).status).toBe(200);
      const [mail] = await newMails(service);
      expect(linkIn(mail).origin).toBe('http://portal.test');
      expect(JSON.stringify(mail)).not.toContain('evil.test');
    });

    it('an absolute-form request target', async () => {
      await service.givenUser('absolute');
      await service.app.listen(0, '127.0.0.1');
      const { port } = service.app.getHttpServer().address() as AddressInfo;
      const socket = connect(port, '127.0.0.1');
      const body = JSON.stringify({ email: 'absolute@example.com' });
      socket.write(
        `POST http://evil.test/forget-password HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
      const [mail] = await newMails(service);
      expect(linkIn(mail).origin).toBe('http://portal.test');
      expect(JSON.stringify(mail)).not.toContain('evil.test');
    });
  });

  describe('the language of the link is always a supported one (T131, W29)', () => {
    beforeAll(() => service.givenUser('lang'));
    beforeEach(() => service.database.affected('DELETE FROM cooldowns'));

    const linkLanguage = async (more: object, headers: Record<string, string> = {}) => {
      expect((await ask('lang@example.com', more, headers)).status).toBe(200);
      const link = linkIn((await newMails(service))[0]);
      expect([...link.searchParams.keys()]).toEqual(['uid', 'lang']);
      expect(link.hash).toBe('');
      return link.searchParams.get('lang');
    };

    it('comes from the body, else from Accept-Language, else it is English', async () => {
      expect(await linkLanguage({ lang: 'zh-CN' }, { 'accept-language': 'en' })).toBe('zh-CN');
      await service.database.affected('DELETE FROM cooldowns');
      expect(await linkLanguage({ lang: 'en' }, { 'accept-language': 'zh-CN' })).toBe('en');
      await service.database.affected('DELETE FROM cooldowns');
      expect(await linkLanguage({}, { 'accept-language': 'fr, zh;q=0.8, en;q=0.5' })).toBe('zh-CN');
      await service.database.affected('DELETE FROM cooldowns');
      expect(await linkLanguage({})).toBe('en');
    });

    it.each<[string, unknown]>([
      ['a second parameter', 'en&uid=x'],
      ['a header', 'en\r\nBcc: evil@example.net'],
      ['markup', '<script>'],
      ['10 kB', 'e'.repeat(10_240)],
      ['10 kB of subtags', 'en-' + 'US-'.repeat(3000)],
      ['an array', ['zh-CN']],
      ['an object', { toString: 'zh-CN' }],
      ['a number', 7],
      ['null', null],
      ['nothing', ''],
      ['a language that is not on the list', 'fr'],
    ])('%s in the body is ignored, and the link is intact', async (_name, lang) => {
      expect(await linkLanguage({ lang }, { 'accept-language': 'zh-CN' })).toBe('zh-CN');
    });
  });

  it('markup in a nickname is not in the mail, which greets by the login name (T135)', async () => {
    await service.givenUser('t135', { nickname: '<img src=//evil.test>' });
    await ask('t135@example.com');
    const [mail] = await newMails(service);
    expect(mail?.html).toContain('t135');
    expect(mail?.html).not.toContain('evil.test');
  });

  it('when the clock is set back, the throttle still holds and a used link stays used (T255)', async () => {
    await service.givenUser('t255');
    const token = await mailedToken(service, 't255@example.com');
    service.clock.advanceSeconds(-3600);
    expect(codeOf(await ask('t255@example.com'))).toBe('AUTH_429002');
    expect(codeOf(await submit(service, token, goodPassword(1)))).toBe('success');
    service.clock.advanceSeconds(3600);
    expect(codeOf(await submit(service, token, goodPassword(2)))).toBe('AUTH_401007');
  });
});

describe('RESET_RESPONSE_UID=token, the literal reading of the specification', () => {
  it('the uid in the answer is the token of the link, and only its hash is stored', async () => {
    const service = await TestService.start({ RESET_RESPONSE_UID: 'token' });
    try {
      await service.givenUser('literal');
      const answer = await service.post('/forget-password', { email: 'literal@example.com' });
      const uid = answer.body.data.uid as string;
      expect(linkIn((await newMails(service))[0]).searchParams.get('uid')).toBe(uid);
      expect((await look(service, uid)).body.data).toEqual({ ...answer.body.data, login_name: 'literal' });
      expect(codeOf(await submit(service, uid, goodPassword(1)))).toBe('success');
      expect((await service.login('literal', goodPassword(1))).status).toBe(200);
      expect(JSON.stringify(await service.database.rows('SELECT * FROM audit_logs'))).not.toContain(uid);
    } finally {
      await service.stop();
    }
  });
});

describe('without a mail server', () => {
  it('in production the request is stored, no mail is sent, and a warning is logged (T143)', async () => {
    const service = await TestService.start({
      NODE_ENV: 'production',
      BCRYPT_COST: '10',
      SYSTEM_URL: 'https://portal.example.com',
      MIGRATE_ON_START: 'true',
      CAPTCHA_TEST_TOKEN: '',
    });
    try {
      const user = await service.givenUser('nomail');
      expect((await service.post('/forget-password', { email: 'nomail@example.com' })).status).toBe(200);
      expect(await newMails(service)).toEqual([]);
      expect(await requests(service, user.uid)).toHaveLength(1);
      expect(service.logLines.map(({ msg }) => msg)).toContainEqual(
        expect.stringContaining('no mail server is configured'),
      );
    } finally {
      await service.stop();
    }
  });
});

describe('HIDE_ACCOUNT_EXISTENCE', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start({ HIDE_ACCOUNT_EXISTENCE: 'true' });
  });
  afterAll(() => service.stop());

  const ask = (email: string) => service.post('/forget-password', { email });

  it('an unknown address is answered like a known one: same fields, times and throttle (T103, W11)', async () => {
    await service.givenUser('known');
    const known = await ask('known@example.com');
    const unknown = await ask('unknown@example.com');
    expect(unknown.status).toBe(200);
    expect(Object.keys(unknown.body.data)).toEqual(Object.keys(known.body.data));
    expect(unknown.body.data).toEqual({
      ...known.body.data,
      uid: expect.stringMatching(uuid4),
      user_id: expect.stringMatching(uuid4),
    });
    expect(unknown.headers).toEqual({ ...known.headers, date: expect.any(String), 'x-request-id': expect.any(String) });
    service.clock.advanceSeconds(10);
    const again = [await ask('known@example.com'), await ask('unknown@example.com')];
    expect(again[0]?.body).toMatchObject({ error_code: 'AUTH_429002', data: { retry_after: 290 } });
    expect(again[1]?.body).toEqual(again[0]?.body);
    service.clock.advanceSeconds(290);
    const later = await ask('unknown@example.com');
    expect(later.body.data.user_id).toBe(unknown.body.data.user_id);
    expect(later.body.data.uid).not.toBe(unknown.body.data.uid);
  });

  it('all spellings of an unknown address share one throttle and one synthetic user id', async () => {
    const first = await ask('spelling@example.com');
    expect(codeOf(await ask('SPELLING@example.com '))).toBe('AUTH_429002');
    service.clock.advanceSeconds(300);
    expect((await ask('ＳＰＥＬＬＩＮＧ@example.com')).body.data.user_id).toBe(first.body.data.user_id);
  });

  it('disabled users and directory users are answered alike, without a row, a mail or an audit row', async () => {
    await service.givenUser('disabled', { status: -1 });
    await service.givenUser('directory', { provider: 'ldap' });
    await newMails(service);
    const before = [await service.count('user_change_password_request'), await service.count('audit_logs')];
    for (const email of ['disabled@example.com', 'directory@example.com', 'stranger@example.com']) {
      const { status, body } = await ask(email);
      expect(status).toBe(200);
      expect(codeOf(await look(service, body.data.uid as string))).toBe('AUTH_401003');
      expect(codeOf(await ask(email))).toBe('AUTH_429002');
    }
    expect(await newMails(service)).toEqual([]);
    expect([await service.count('user_change_password_request'), await service.count('audit_logs')]).toEqual(before);
  });
});
