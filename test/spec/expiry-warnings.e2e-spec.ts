import type { Email } from 'postal-mime';
import { ExpiryWarnings } from '../../src/password-reset/expiry-warnings';
import { TestService } from '../support/app';
import { codeOf, goodPassword, mailedToken, newMails, recipients } from '../support/reset';

const days = (count: number) => count * 86_400;

describe('warnings of an expiring password', () => {
  let service: TestService;

  beforeEach(async () => {
    service = await TestService.start();
  });
  afterEach(() => service.stop());

  /** Runs until nothing is due. A new pass begins after an hour. */
  async function warned(by = service): Promise<Email[]> {
    by.clock.advanceSeconds(3600);
    while ((await by.app.get(ExpiryWarnings).run()) > 0);
    return newMails(by);
  }
  const names = (mails: Email[]) => mails.flatMap((mail) => recipients(mail)).sort();
  const ago = (seconds: number) => new Date(service.clock.now().getTime() - seconds * 1000);
  /** A user whose password expires in this time after the next pass. */
  const expiring = (name: string, inSeconds: number, more: Parameters<TestService['givenUser']>[1] = {}) =>
    service.givenUser(name, { passwordSetAt: ago(days(90) - inSeconds - 3600), ...more });

  it('each step sends one mail, and nothing is sent before the first step or after the expiry', async () => {
    await expiring('alice', days(15));
    const sent: string[][] = [];
    for (let day = 0; day <= 17; day += 1) {
      const mails = await warned();
      sent.push(mails.map(({ text }) => /expires in ([^(]+) \(/.exec(text ?? '')?.[1] ?? 'no time'));
      service.clock.advanceSeconds(days(1) - 3600);
    }
    expect(sent.map((texts) => texts.join())).toEqual([
      '',
      '14 days',
      '',
      '',
      '',
      '',
      '',
      '',
      '7 days',
      '',
      '',
      '',
      '',
      '',
      '24 hours',
      '',
      '',
      '',
    ]);
  });

  it('the mail names the time of the expiry and contains no link', async () => {
    await expiring('alice', days(7));
    const [mail] = await warned();
    const expires = new Date(service.clock.now().getTime() + days(7) * 1000).toISOString();
    expect(mail?.subject).toBe('Your password expires soon');
    expect(mail?.text).toContain(`(on ${expires.slice(0, 16).replace('T', ' ')} UTC)`);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|<a /);
  });

  it('a service that was down sends the nearest step only', async () => {
    await expiring('alice', days(20));
    service.clock.advanceSeconds(days(15));
    const mails = await warned();
    expect(mails.map(({ text }) => /expires in (\d+ \w+)/.exec(text ?? '')?.[1])).toEqual(['5 days']);
    expect(await warned()).toEqual([]);
  });

  it('a new password gets warnings of its own', async () => {
    await expiring('alice', days(1));
    expect(names(await warned())).toEqual(['alice@example.com']);
    const token = await mailedToken(service, 'alice@example.com');
    const answer = await service.post(
      '/user/change-pwd-by-req',
      { req_uid: token, password: goodPassword(1), confirm_password: goodPassword(1) },
      { headers: { 'accept-language': 'de' } },
    );
    expect(codeOf(answer)).toBe('success');
    await newMails(service);
    expect(await warned()).toEqual([]);
    service.clock.advanceSeconds(days(76));
    // The language is that of the browser in which the password was chosen.
    expect((await warned()).map(({ subject }) => subject)).toEqual(['Ihr Passwort läuft bald ab']);
    expect(await warned()).toEqual([]);
  });

  it('the language is that of the owner, before the one in which the password was chosen', async () => {
    const german = { headers: { 'accept-language': 'de' } };
    for (const name of ['alice', 'bob', 'carol']) await service.givenUser(name);
    for (const name of ['alice', 'bob']) {
      const token = await mailedToken(service, `${name}@example.com`);
      const body = { req_uid: token, password: goodPassword(1), confirm_password: goodPassword(1) };
      expect(codeOf(await service.post('/user/change-pwd-by-req', body, german))).toBe('success');
    }
    // As a sign-in or an administrator sets it.
    await service.database.affected("UPDATE users SET language = 'zh-CN' WHERE login_name IN ('alice', 'carol')", []);
    await newMails(service);
    service.clock.advanceSeconds(days(76));
    const subjects = (await warned()).map((mail) => [String(recipients(mail)?.[0]), mail.subject]).sort();
    expect(subjects).toEqual([
      ['alice@example.com', '您的密码即将过期'],
      ['bob@example.com', 'Ihr Passwort läuft bald ab'],
      ['carol@example.com', '您的密码即将过期'],
    ]);
  });

  it('directory, disabled, dormant and temporary accounts and those without an address get no mail', async () => {
    const soon = days(7);
    await expiring('ordinary', soon);
    await expiring('disabled', soon, { status: -1 });
    await expiring('waiting', soon, { status: 0 });
    await expiring('temporary', soon, { temporary: true });
    await expiring('silent', soon, { email: null });
    await service.givenUser('directory', { provider: 'ldap' });
    await expiring('unset', soon, { password: null });
    const dormant = await expiring('dormant', soon);
    const set = (uid: string, column: string, value: Date) =>
      service.database.affected(`UPDATE users SET ${column} = ? WHERE uid = ?`, [value, uid]);
    await set(dormant.uid, 'created_at', ago(days(200)));
    const used = await expiring('used', soon);
    await set(used.uid, 'created_at', ago(days(200)));
    await set(used.uid, 'last_login_success_time', ago(days(100)));
    const enabled = await expiring('enabled again', soon, { email: 'enabled@example.com' });
    await set(enabled.uid, 'created_at', ago(days(200)));
    await set(enabled.uid, 'enabled_at', ago(days(100)));
    expect(names(await warned())).toEqual(['enabled@example.com', 'ordinary@example.com', 'used@example.com']);
  });

  it('a password without a history row expires from the creation of the account, and its owner is warned once', async () => {
    const { uid } = await service.givenUser('adopted');
    await service.database.affected('DELETE FROM user_change_pwd_logs');
    await service.database.affected('UPDATE users SET created_at = ? WHERE uid = ?', [ago(days(80)), uid]);
    expect(names(await warned())).toEqual(['adopted@example.com']);
    expect(await warned()).toEqual([]);
  });

  it('only the newest password of an account counts', async () => {
    const { uid } = await expiring('alice', days(7));
    await service.database.affected(
      "INSERT INTO user_change_pwd_logs (user_id, type, password, created_at) VALUES (?, 1, 'x', ?)",
      [uid, ago(days(10))],
    );
    expect(await warned()).toEqual([]);
  });

  it('a run queues at most 50 mails, and the next run goes on', async () => {
    await expiring('template', days(7));
    for (let i = 1; i <= 119; i++) {
      const name = `user${String(i).padStart(3, '0')}`;
      const copy = `SELECT ?, ?, ?, ?, ?, password, salt, provider, tenant_id, created_at FROM users WHERE login_name = 'template'`;
      await service.database.affected(
        `INSERT INTO users (uid, login_name, login_name_key, email, email_key, password, salt, provider, tenant_id, created_at) ${copy}`,
        [`00000000-0000-4000-8000-000000000${String(i).padStart(3, '0')}`, name, name, `${name}@example.com`, name],
      );
      await service.database.affected(
        `INSERT INTO user_change_pwd_logs (user_id, type, password, created_at)
         SELECT ?, 0, password, created_at FROM user_change_pwd_logs WHERE id = 1`,
        [`00000000-0000-4000-8000-000000000${String(i).padStart(3, '0')}`],
      );
    }
    service.clock.advanceSeconds(3600);
    const warnings = service.app.get(ExpiryWarnings);
    const queued = [];
    for (let run = 0; run < 4; run++) queued.push(await warnings.run());
    expect(queued).toEqual([50, 50, 20, 0]);
    expect(new Set(names(await newMails(service))).size).toBe(120);
  });

  it('when a mail cannot be queued, its account is not marked as warned, and the next run sends it', async () => {
    await expiring('alice', days(7));
    await service.database.affected('ALTER TABLE mail_outbox RENAME TO away');
    service.clock.advanceSeconds(3600);
    await expect(service.app.get(ExpiryWarnings).run()).rejects.toThrow();
    expect(await service.count('password_expiry_warnings')).toBe(0);
    await service.database.affected('ALTER TABLE away RENAME TO mail_outbox');
    expect(await service.app.get(ExpiryWarnings).run()).toBe(1);
  });

  it.each([
    ['off', { PASSWORD_EXPIRY_WARN_DAYS: 'off' }, days(1), 0],
    ['other days', { PASSWORD_EXPIRY_WARN_DAYS: '3, 30' }, days(20), 1],
    ['no expiry', { PASSWORD_EXPIRE_DAYS: '0' }, days(1), 0],
    ['a step that is not shorter than the life of a password', { PASSWORD_EXPIRE_DAYS: '7' }, days(6), 0],
  ])('with %s', async (_what, settings, left, count) => {
    // With a database of its own: otherwise both services would send the mail, each to its own folder.
    const other = await TestService.start(settings);
    const life = Number((settings as Record<string, string>).PASSWORD_EXPIRE_DAYS ?? 90) || 90;
    await other.givenUser('alice', { passwordSetAt: ago(days(life) - left - 3600) });
    expect(await warned(other)).toHaveLength(count);
    await other.stop();
  });
});
