import { BulkSupport } from '../../src/admin/bulk-support';
import { operatorAuthority } from '../../src/admin/authority';
import { UserAdministration } from '../../src/admin/user-administration';
import { RecoveryCodes } from '../../src/mfa/recovery-codes';
import { OwnPasskeys } from '../../src/passkeys/own-passkeys';
import type { User } from '../../src/users/user.entity';
import { UsersRepository } from '../../src/users/users.repository';
import { givenCaller, givenPasskeyRow, startAdministration } from '../support/admin';
import { password, type TestService } from '../support/app';
import { queuedMails, toldChanges } from '../support/notices';
import { codeOf, newMails, recipients } from '../support/reset';

/** docs/spec/extensions.md#foreign-changes */
describe('changes of an account that its owner did not make', () => {
  let service: TestService;
  let bearer: string;
  let users = 0;

  beforeAll(async () => {
    service = await startAdministration({ BRAND_NAME: '', SUPPORT_URL: 'mailto:help@example.com' });
    bearer = (await givenCaller(service, { isAdmin: true })).bearer;
  });
  afterAll(() => service.stop());
  beforeEach(() => newMails(service));

  const given = (more: Parameters<TestService['givenUser']>[1] = {}) =>
    service.givenUser(`owner${++users}`, { password: null, nickname: 'Win at casino.example', ...more });
  const patch = async ({ uid }: User, body: object, headers: Record<string, string> = {}) =>
    expect(codeOf(await service.send('PATCH', `/admin/users/${uid}`, body, { bearer, headers }))).toBe('success');
  const act = async ({ uid }: User, action: string) =>
    expect(codeOf(await service.post(`/admin/users/${uid}/${action}`, {}, { bearer }))).toBe('success');

  describe('by an administrator', () => {
    it.each<[string, object, object]>([
      ['disabled', { status: -1 }, {}],
      ['enabled', { status: 1 }, { status: 0 }],
      ['adminGiven', { is_admin: true }, {}],
      ['adminTaken', { is_admin: false }, { isAdmin: true }],
      ['helpDeskGiven', { role: 'help_desk' }, {}],
      ['auditorGiven', { role: 'auditor' }, { role: 'help_desk' }],
      ['roleTaken', { role: null }, { role: 'auditor' }],
      ['secondFactorChanged', { mfa_type: 'totp' }, {}],
    ])(
      '%s: one mail tells the owner, and a repetition that changes nothing tells nothing',
      async (change, body, more) => {
        const user = await given(more);
        await patch(user, body);
        await patch(user, body);
        expect(await toldChanges(service, user)).toEqual([change]);
      },
    );

    it('a new address is told to both addresses, to the former one in its masked form', async () => {
      const user = await given();
      await patch(user, { email: 'someone.else@new.example' });
      await patch(user, { email: 'someone.else@new.example' });
      const mails = await queuedMails(service, user, 'account-changed');
      expect(mails.map(({ to }) => to).sort()).toEqual([user.email, 'someone.else@new.example'].sort());
      const sent = await newMails(service);
      expect(sent).toHaveLength(2);
      for (const mail of sent) {
        expect(mail.text).toContain('s•••@new.example');
        expect(`${mail.text}${mail.html}`).not.toContain('someone.else');
      }
      expect(sent.flatMap((mail) => recipients(mail)).sort()).toEqual([user.email, 'someone.else@new.example'].sort());
    });

    it('another spelling of the same address is no change to tell', async () => {
      const user = await given();
      await patch(user, { email: user.email!.toUpperCase() });
      expect(await toldChanges(service, user)).toEqual([]);
    });

    it('the removal of the address is told to that address, and the first one to the new one', async () => {
      const user = await given();
      await patch(user, { email: null });
      const [removed] = await queuedMails(service, user, 'account-changed');
      expect(removed).toMatchObject({ to: user.email, change: 'emailRemoved' });
      const silent = await given({ email: null });
      await patch(silent, { email: 'first@example.com' });
      expect(await queuedMails(service, silent, 'account-changed')).toMatchObject([
        { to: 'first@example.com', change: 'email' },
      ]);
    });

    it('a change together with the address goes to the former one, so that the new address cannot hide it', async () => {
      const user = await given();
      await patch(user, { email: 'thief@example.com', is_admin: true });
      const told = (await queuedMails(service, user, 'account-changed')).filter(({ change }) => change !== 'email');
      expect(told).toMatchObject([{ to: user.email, change: 'adminGiven' }]);
    });

    it('the reset of the second factor and a demanded change of the password are told once', async () => {
      const user = await given({ mfaType: 'totp' });
      for (let time = 0; time < 2; time++) {
        await act(user, 'reset-second-factor');
        await act(user, 'require-password-change');
      }
      expect(await toldChanges(service, user)).toEqual(['passwordChangeRequired', 'secondFactorReset']);
    });

    it('the mail of a removed passkey says who removed it, and shows no IP address', async () => {
      const user = await given({ language: 'de' });
      const id = await givenPasskeyRow(service, user.uid);
      expect(codeOf(await service.send('DELETE', `/admin/users/${user.uid}/passkeys/${id}`, {}, { bearer }))).toBe(
        'success',
      );
      const [mail] = await newMails(service);
      expect(mail?.subject).toBe('Ein Passkey wurde aus Ihrem Konto entfernt');
      expect(mail?.text).toContain('Geändert von: der Administration');
      expect(mail?.text).not.toContain('127.0.0.1');
    });

    it('an unlock, ended sessions, a name and a language change nothing that the owner must know of', async () => {
      const user = await given();
      await act(user, 'unlock');
      await act(user, 'revoke-sessions');
      await patch(user, { nickname: 'Another', language: 'de' });
      expect(await service.count('mail_outbox', 'user_id = ?', [user.uid])).toBe(0);
    });

    it('an owner without an address, or with one that is none, gets no mail, and the change is made', async () => {
      const user = await given({ email: null });
      await patch(user, { status: -1 });
      const odd = await given();
      await service.database.affected("UPDATE users SET email = 'a..b@example' WHERE uid = ?", [odd.uid]);
      await patch(odd, { status: -1 });
      expect([await toldChanges(service, user), await toldChanges(service, odd)]).toEqual([[], []]);
      expect((await service.userRow(odd.uid)).status).toBe(-1);
    });

    it('a deletion deletes the notices that are not sent, and sends none', async () => {
      const user = await given();
      await patch(user, { status: -1 });
      await service.send('DELETE', `/admin/users/${user.uid}`, {}, { bearer });
      expect(await newMails(service)).toEqual([]);
    });

    it('a refused change tells nothing', async () => {
      const user = await given();
      const body = { email: 'not an address', status: -1 };
      expect(codeOf(await service.send('PATCH', `/admin/users/${user.uid}`, body, { bearer }))).toBe('COMMON_400001');
      expect(await toldChanges(service, user)).toEqual([]);
    });
  });

  describe('by the command line', () => {
    it('a new password, removed recovery codes and removed passkeys are told, and nothing where nothing was removed', async () => {
      const user = await given({ password });
      await service.app.get(UserAdministration).setPassword(operatorAuthority, user, 'Another-Password-9', {
        ...{ temporary: false, rules: 'waived' },
      });
      const [codes, passkeys] = [service.app.get(RecoveryCodes), service.app.get(OwnPasskeys)];
      await givenPasskeyRow(service, user.uid);
      await service.database.affected(
        "INSERT INTO recovery_codes (id, user_id, code_hash, key_id, created_at) VALUES (?, ?, 'h', 'k', ?)",
        [user.uid, user.uid, service.clock.now()],
      );
      for (let time = 0; time < 2; time++) {
        await codes.revoke(user);
        await passkeys.revokeAll(user);
      }
      expect(await toldChanges(service, user)).toEqual(['passkeysRemoved', 'passwordSet', 'recoveryCodesRemoved']);
    });

    it('an action for all accounts queues one mail for each whose account changes', async () => {
      const concerned = [await given({ mfaType: 'totp' }), await given({ mfaType: 'totp', email: null })];
      const other = await given();
      await service.database.affected("UPDATE users SET topt_secret = 'x' WHERE uid IN (?, ?)", [
        concerned[0]!.uid,
        concerned[1]!.uid,
      ]);
      const run = { report: { users: 0 }, progress: () => undefined, signal: new AbortController().signal };
      await service.app.get(BulkSupport).run('resetSecondFactor', undefined, run);
      expect(run.report.users).toBe(2);
      expect(await toldChanges(service, concerned[0]!)).toEqual(['secondFactorReset']);
      expect(await service.count('mail_outbox', 'user_id IN (?, ?)', [concerned[1]!.uid, other.uid])).toBe(0);
    });
  });

  it('the mail has the login name, the time and the address of the support, and no link, nickname or IP address', async () => {
    const user = await given();
    await patch(user, { status: -1 });
    const [mail, ...others] = await newMails(service);
    expect(others).toEqual([]);
    expect(mail?.subject).toBe('Your account was disabled');
    expect(mail?.text).toContain(`Hello ${user.loginName},`);
    expect(mail?.text).toContain(`${service.clock.now().toISOString().slice(0, 16).replace('T', ' ')} UTC`);
    expect(mail?.text).toContain('help@example.com');
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|<a |mailto:|casino|127\.0\.0\.1/);
  });

  describe('the language of the mails', () => {
    const german = { 'accept-language': 'de-AT,de;q=0.9' };
    const languageOf = async ({ uid }: User) => (await service.userRow(uid)).language;
    const lastSubject = async () => (await newMails(service)).at(-1)?.subject;

    it('is that of the last sign-in, which replaces the one that an administrator has set', async () => {
      const user = await given({ password, language: 'zh-CN' });
      expect((await service.login(user.loginName, password, {}, { headers: german })).status).toBe(200);
      expect(await languageOf(user)).toBe('de');
      await newMails(service);
      await patch(user, { status: -1 }, { 'accept-language': 'en' });
      expect(await lastSubject()).toBe('Ihr Konto wurde deaktiviert');
    });

    it('stays when a sign-in names no language of the service, when it fails, and where the account is disabled', async () => {
      const user = await given({ password, language: 'zh-CN' });
      for (const headers of [{} as Record<string, string>, { 'accept-language': 'fr' }, { 'accept-language': '*' }]) {
        expect((await service.login(user.loginName, password, {}, { headers })).status).toBe(200);
      }
      expect((await service.login(user.loginName, 'wrong', {}, { headers: german })).status).toBe(401);
      const disabled = await given({ password, language: 'zh-CN', status: -1 });
      expect((await service.login(disabled.loginName, password, {}, { headers: german })).status).toBe(401);
      expect([await languageOf(user), await languageOf(disabled)]).toEqual(['zh-CN', 'zh-CN']);
    });

    it('is that of the causing request while the one of the owner is unknown, or was removed from the program', async () => {
      const user = await given();
      await patch(user, { status: -1 }, german);
      expect(await lastSubject()).toBe('Ihr Konto wurde deaktiviert');
      await service.database.affected("UPDATE users SET language = 'xx' WHERE uid = ?", [user.uid]);
      await patch(user, { status: 1 }, german);
      expect(await lastSubject()).toBe('Ihr Konto wurde aktiviert');
    });

    it('holds for a forgotten password that somebody else asks for, an invitation and a reset link, and for their links', async () => {
      const user = await given({ password, language: 'zh-CN' });
      await service.post('/forget-password', { email: user.email, lang: 'de' }, { headers: german });
      expect(await queuedMails(service, user, 'reset-link')).toMatchObject([
        { language: 'zh-CN', link: expect.stringMatching(/&lang=zh-CN$/) as string },
      ]);
      await act(user, 'send-reset-link');
      await act(user, 'invite');
      const mails = await queuedMails(service, user, 'reset-link');
      expect(mails.map(({ language }) => language)).toEqual(['zh-CN', 'zh-CN', 'zh-CN']);
    });

    it('of a new user is the one that the administrator gives, and the invitation is in it', async () => {
      const body = { login_name: 'fresh', email: 'fresh@example.com', invite: true, language: 'de' };
      const answer = await service.post('/admin/users', body, { bearer });
      expect(answer.body.data.language).toBe('de');
      const [mail] = await newMails(service);
      expect(mail?.subject).toBe('Passwort festlegen');
      expect(mail?.text).toMatch(/Benutzername: fresh\n/);
      const uid = String(answer.body.data.uid);
      const changed = await service.send('PATCH', `/admin/users/${uid}`, { language: null }, { bearer });
      expect(changed.body.data.language).toBeNull();
      expect((await service.app.get(UsersRepository).findByUid(uid))?.language).toBeNull();
    });

    it.each(['fr', 'DE', '', 'de\u0007', 7])('%j is no language: COMMON_400001 names the field', async (language) => {
      const { uid } = await given();
      const answer = await service.send('PATCH', `/admin/users/${uid}`, { language }, { bearer });
      expect(codeOf(answer)).toBe('COMMON_400001');
      expect(Object.keys(answer.body.data.fields as object)).toEqual(['language']);
    });
  });

  describe('the login name in the mails about links', () => {
    it('is there with the address of the portal, so that the person knows what to type and where', async () => {
      const user = await given({ password });
      await service.post('/forget-password', { email: user.email });
      const [mail] = await newMails(service);
      expect(mail?.text).toMatch(new RegExp(`User name: ${user.loginName}\n`));
      expect(mail?.text).toMatch(/Portal: \S+\n/);
    });

    it.each(['Win money at casino.example', 'https://casino.example', 'www.casino.example'])(
      '%s is left out: an administrator would write to a stranger with it',
      async (loginName) => {
        const user = await service.givenUser(loginName, { email: `stranger${++users}@example.com`, password });
        await service.post('/forget-password', { email: user.email });
        const [mail] = await newMails(service);
        expect(mail?.text).not.toContain('casino');
        expect(mail?.html).not.toContain('casino');
      },
    );

    it('that looks like an address is shown in parts, so that no mail program makes a link of it', async () => {
      const user = await service.givenUser('eve@casino.example', { email: 'eve@example.com', password });
      await service.post('/forget-password', { email: user.email });
      const [mail] = await newMails(service);
      expect(mail?.text).toContain('User name: eve@casino.example\n');
      expect(mail?.html).toContain('<span>eve@</span><wbr><span>casino.</span><wbr><span>example</span>');
    });
  });
});
