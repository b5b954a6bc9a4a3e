import { operatorAuthority } from '../../src/admin/authority';
import { UserAdministration } from '../../src/admin/user-administration';
import { UserErasure } from '../../src/admin/user-erasure';
import { ExpiryWarnings } from '../../src/password-reset/expiry-warnings';
import { givenCaller, givenPasskeyRow, startAdministration } from '../support/admin';
import { type Answer, password, TestService } from '../support/app';
import { authenticatorCode } from '../support/mfa';
import { goodPassword, newMails } from '../support/reset';

const fieldsOf = ({ status, body }: Answer) => [status, Object.keys((body.data?.fields as object | undefined) ?? {})];

describe('names that administrators give', () => {
  let service: TestService;
  let root: string;
  let uid: string;
  beforeAll(async () => {
    service = await startAdministration({ RATE_LIMIT: 'on', RATE_LIMIT_FORGOT_PASSWORD: '4' });
    root = (await givenCaller(service, { isAdmin: true })).bearer;
    uid = (await service.givenUser('named', { password: null })).uid;
  });
  afterAll(() => service.stop());

  let address = 0;
  /** Each request comes from an address of its own, unless a test counts the requests of one. */
  const send = (method: 'POST' | 'PATCH', path: string, body: object, ip = `198.51.100.${++address}`) =>
    service.send(method, `/admin/${path}`, body, { bearer: root, ip });
  const user = (loginName: string, more: object = {}) => ({
    login_name: loginName,
    email: `u${++address}@example.com`,
    ...more,
  });

  it.each([
    ['NUL', '\0'],
    ['a line break', '\n'],
    ['a line separator', '\u2028'],
    ['an override of the direction', '\u202E'],
    ['an isolate', '\u2066'],
    ['a right-to-left mark', '\u200F'],
  ])('%s is refused in every name, and the answer names the field', async (_what, character) => {
    const name = `ad${character}min`;
    expect(fieldsOf(await send('POST', 'users', user(name)))).toEqual([400, ['login_name']]);
    expect(fieldsOf(await send('POST', 'users', user('other', { nickname: name })))).toEqual([400, ['nickname']]);
    expect(fieldsOf(await send('PATCH', `users/${uid}`, { nickname: name }))).toEqual([400, ['nickname']]);
    expect(fieldsOf(await send('POST', 'tenants', { id: 'new', name }))).toEqual([400, ['name']]);
    expect(fieldsOf(await send('PATCH', 'tenants/acme', { name }))).toEqual([400, ['name']]);
    const unit = { id: 'new', name, tenant_id: 'acme' };
    expect(fieldsOf(await send('POST', 'org-units', unit))).toEqual([400, ['name']]);
    const passkey = { name, response: {} };
    expect(fieldsOf(await service.post('/passkeys', passkey, { bearer: root }))).toEqual([400, ['name']]);
  });

  it.each(['محمد', 'דוד', 'می\u200Cخواهم', '👩\u200D👧', '张伟'])('%s is a name like any other', async (name) => {
    const { body } = await send('POST', 'users', user(name, { nickname: name }));
    expect(body.data).toMatchObject({ login_name: name, nickname: name });
    expect((await send('PATCH', 'tenants/other', { name })).status).toBe(200);
  });

  it('an account whose login name is the uid of somebody else is not the user whom a command names by this uid (T772)', async () => {
    const find = (name: string) => service.app.get(UserAdministration).find(name);
    const acme = (await givenCaller(service, { isAdmin: true, tenantId: 'acme' })).bearer;
    const made = await service.post('/admin/users', user(uid), { bearer: acme });
    expect(made.body.data).toMatchObject({ login_name: uid, tenant_id: 'acme' });
    for (const typed of [uid, uid.toUpperCase()]) expect((await find(typed)).uid).toBe(uid);
    const imported = await service.givenUser('imported', { uid: '6F1C8A52-0D5E-4A0B-9A3E-0D1F2E3A4B5C' });
    await service.post('/admin/users', user(imported.uid), { bearer: acme });
    expect((await find(imported.uid)).uid).toBe(imported.uid);
    const erased = await service.givenUser('erased');
    await service.post('/admin/users', user(erased.uid), { bearer: acme });
    await service.app.get(UserErasure).erase(operatorAuthority, erased.uid);
    await expect(find(erased.uid)).rejects.toThrow('there is no user');
    // The login name of one user may be the uid of another, where both are ids of an old system.
    const kept = await service.givenUser('kept', { uid: '1001' });
    const named = await service.givenUser('1001');
    expect([(await find('1001')).uid, (await find('kept')).uid]).toEqual([named.uid, kept.uid]);
  });

  it('a mail that an administrator or anybody can cause greets by the login name and never by the nickname', async () => {
    const advertisement = 'Win a prize at evil.test';
    const invited = await send('POST', 'users', user('anna.smith', { nickname: advertisement, invite: true }));
    const invitedUid = String(invited.body.data.uid);
    await send('POST', `users/${invitedUid}/invite`, {});
    await send('POST', `users/${invitedUid}/send-reset-link`, {});
    // The administrator knows the address, and can ask as anybody can.
    service.clock.advanceSeconds(61);
    const { email } = invited.body.data as { email: string };
    expect((await service.post('/forget-password', { email })).status).toBe(200);
    const mails = await newMails(service);
    expect(mails).toHaveLength(4);
    for (const { text, html } of mails) {
      expect(text).toContain('anna.smith');
      expect(`${text}${String(html)}`).not.toContain('evil.test');
    }
  });

  it('a warning of an expiring password, which a file of users can cause, greets by the login name as well (T773)', async () => {
    const hash = '$2b$10$abcdefghijklmnopqrstuu5Lr0j4nQZ4Jz6sWq1c9y2mV8tBxKdGi';
    const set = service.clock.secondsFromNow(-80 * 86_400).toISOString();
    const row = `old.smith,old@example.com,Win a prize at evil.test,${hash},${set}`;
    const file = `login_name,email,nickname,password_hash,password_set_at\n${row}\n`;
    const sent = { bearer: root, headers: { 'content-type': 'text/csv' } };
    expect((await service.post('/admin/users/import', file, sent)).body.data).toMatchObject({ created: 1 });
    expect(await service.app.get(ExpiryWarnings).run()).toBe(1);
    const [mail] = await newMails(service);
    expect(mail?.text).toContain('Hello old.smith');
    expect(`${mail?.text}${String(mail?.html)}`).not.toContain('evil.test');
  });

  it('whoever imports an account with its password can sign in to it: no mail of the account has the nickname (T773)', async () => {
    const settings = { NEW_SIGN_IN_NOTICE: 'true', MFA_REQUIRED: 'false' };
    const { store, clock } = service;
    const others = await Promise.all(
      [settings, { ...settings, MFA_REQUIRED: 'true' }].map((one) => TestService.start(one, { store, clock })),
    );
    const [plain, asking] = others as [TestService, TestService];
    try {
      const rows = ['some.smith', 'more.smith'].map(
        (n) => `${n},${n}@example.com,Win a prize at evil.test,${password}`,
      );
      const file = `login_name,email,nickname,password\n${rows.join('\n')}\n`;
      const acme = (await givenCaller(service, { isAdmin: true, tenantId: 'acme' })).bearer;
      const sent = { bearer: acme, headers: { 'content-type': 'text/csv' } };
      expect((await service.post('/admin/users/import', file, sent)).body.data).toMatchObject({ created: 2 });
      await newMails(plain);

      expect((await asking.login('more.smith')).body.data.mfa_required).toBe(true);
      await plain.session('some.smith');
      const agent = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' };
      const { body } = await plain.login('some.smith', password, {}, { headers: agent });
      const bearer = String(body.data.access_token);
      const own = String(body.data.user_info.uid);
      const done = async (answer: Promise<Answer>) => expect((await answer).status).toBe(200);
      await done(plain.post('/recovery-codes', {}, { bearer }));
      await done(plain.send('DELETE', `/passkeys/${await givenPasskeyRow(plain, own)}`, undefined, { bearer }));
      const { secret } = (await plain.post('/totp-secret', undefined, { bearer })).body.data as { secret: string };
      const code = authenticatorCode(secret, clock.now());
      await done(plain.post('/otp-verify', { uid: own, type: 'totp', code }, { bearer }));
      const change = { current_password: password, password: goodPassword(1), confirm_password: goodPassword(1) };
      await done(plain.post('/user/change-password', change, { bearer }));

      const mails = await newMails(plain);
      expect(mails.map(({ subject }) => subject).sort()).toEqual([
        'A passkey was removed from your account',
        'An authenticator app was added to your account',
        'New recovery codes for your account',
        'New sign-in to your account',
        'Your password was changed',
        'Your verification code',
      ]);
      for (const { text, html } of mails) {
        expect(text).toMatch(/^Hello (?:some|more)\.smith,/);
        expect(`${text}${String(html)}`).not.toContain('evil.test');
      }
    } finally {
      for (const other of others) await other.stop({ keepStore: true });
    }
  });

  it.each(['Win a prize at evil.test', 'http://evil.test', 'www.evil.test', 'x'.repeat(65)])(
    'a login name that could be an advertisement is in no mail: %s',
    async (name) => {
      await send('POST', 'users', user(name, { invite: true }));
      const [mail] = await newMails(service);
      expect(mail?.text).toContain('/reset-password');
      expect(`${mail?.text}${String(mail?.html)}`).not.toContain(name);
    },
  );

  it('an invitation by POST /admin/users counts as a mail, a creation without one does not', async () => {
    const ip = '203.0.113.77';
    const create = async (n: number, invite: boolean) =>
      (await send('POST', 'users', user(`limited-${invite}-${n}`, { invite }), ip)).status;
    for (let n = 0; n < 5; n++) expect(await create(n, false)).toBe(200);
    for (let n = 0; n < 4; n++) expect(await create(n, true)).toBe(200);
    expect(await create(4, true)).toBe(429);
    expect((await send('POST', `users/${uid}/invite`, {}, ip)).status).toBe(429);
    expect(await create(5, false)).toBe(200);
  });
});
