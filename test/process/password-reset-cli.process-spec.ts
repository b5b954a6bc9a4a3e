import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, goodPassword } from '../support/reset';
import { Replicas } from '../support/replicas';
import { type Ended, runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { testSettings } from '../support/settings';

/** The command line on the database of a running process. */
describe('the command line of password reset', () => {
  let replicas: Replicas;
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'cli-'));
    replicas = await Replicas.start({}, 1);
  });
  afterAll(async () => {
    await replicas.stop();
    await rm(cwd, { recursive: true, force: true });
  });

  const cli = (...args: string[]): Promise<Ended> =>
    runProgram('dist/src/cli.js', args, {
      cwd,
      env: { ...testSettings, DATA_DIR: join(cwd, 'data'), DATABASE_URL: replicas.databaseUrl },
    });

  const refusal = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await cli(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    return stderr.trim();
  };

  /** Creates a user by SQL, because each command needs a second to start. */
  const givenUser = async (name: string, { email = null as string | null, status = 1, provider = 'password' } = {}) => {
    const uid = randomUUID();
    await replicas.rows(
      `INSERT INTO users (uid, login_name, login_name_key, email, email_key, status, provider, tenant_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'root', UTC_TIMESTAMP(3))`,
      [uid, name, name, email, email, status, provider],
    );
    return uid;
  };

  const linkMails = async () =>
    (await replicas.rows(`SELECT COUNT(*) AS n FROM mail_outbox WHERE kind = 'reset-link'`))[0]?.n as number;

  const change = (token: string, password: string) =>
    replicas.post('/user/change-pwd-by-req', { req_uid: token, password, confirm_password: password });

  describe('user invite', () => {
    it('mails a link of type 0, and prints it only with --print-link', async () => {
      const uid = await givenUser('invited', { email: 'invited@example.com' });
      const quiet = await cli('user', 'invite', 'invited');
      expect(quiet).toMatchObject({ code: 0, stderr: '' });
      expect(quiet.stdout).not.toMatch(/reset-password|uid=/);
      expect(quiet.stdout).toContain('mailed: true');
      expect(await linkMails()).toBe(1);

      const printed = JSON.parse(
        (await cli('user', 'invite', uid, '--print-link', '--lang', 'zh-CN', '--json')).stdout,
      );
      expect(printed).toEqual({
        uid,
        login_name: 'invited',
        mailed: true,
        expired: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        link: expect.stringMatching(/^http:\/\/portal\.test\/reset-password\?uid=[0-9a-f-]{36}&lang=zh-CN$/),
      });
      const token = new URL(printed.link as string).searchParams.get('uid') ?? '';
      const { data } = (await replicas.get(`/user/change-pwd-req/${token}`)).body;
      expect(data).toMatchObject({ user_id: uid, type: 0, status: 0, expired: printed.expired });
      expect(new Date(data.expired as string).getTime() - new Date(data.created_at as string).getTime()).toBe(
        259_200_000,
      );
      expect(codeOf(await change(token, goodPassword(1)))).toBe('success');
      expect((await replicas.login('invited', goodPassword(1))).status).toBe(200);
      expect(await replicas.rows('SELECT event, detail FROM audit_logs WHERE user_id = ? ORDER BY id', [uid])).toEqual([
        { event: 'USER_INVITED', detail: '{}' },
        { event: 'USER_INVITED', detail: '{}' },
        { event: 'USER_PASSWORD_CHANGED', detail: '{"type":0}' },
      ]);
    });

    it('is in the language of the owner, else in English, and --lang wins', async () => {
      const languageOfLink = async (name: string, ...more: string[]) => {
        const { stdout } = await cli('user', 'invite', name, '--print-link', '--json', ...more);
        return new URL(String(JSON.parse(stdout).link)).searchParams.get('lang');
      };
      const german = await givenUser('german', { email: 'german@example.com' });
      await givenUser('unknown', { email: 'unknown@example.com' });
      await replicas.rows("UPDATE users SET language = 'de' WHERE uid = ?", [german]);
      expect(await languageOfLink('german')).toBe('de');
      expect(await languageOfLink('german', '--lang', 'zh-CN')).toBe('zh-CN');
      expect(await languageOfLink('german', '--lang', 'en')).toBe('en');
      expect(await languageOfLink('unknown')).toBe('en');
    });

    it('refuses users who could not use the link, with one line', async () => {
      await givenUser('disabled', { email: 'disabled@example.com', status: -1 });
      await givenUser('directory', { email: 'directory@example.com', provider: 'ldap' });
      await givenUser('addressless');
      const pending = () => replicas.rows('SELECT uid FROM user_change_password_request WHERE status = 0 ORDER BY uid');
      const [before, pendingBefore] = [await linkMails(), await pending()];
      expect(await refusal('user', 'invite', 'disabled', '--print-link')).toBe('the account is disabled');
      expect(await refusal('user', 'invite', 'directory', '--print-link')).toBe(
        'a directory user has no password in this service',
      );
      expect(await refusal('user', 'invite', 'nobody')).toBe('there is no user "nobody"');
      expect(await refusal('user', 'invite', 'addressless')).toContain('--print-link');
      expect(await refusal('user', 'invite', 'addressless', '--lang', 'fr')).toBe(
        '--lang must be one of en, de, zh-CN',
      );
      expect(await linkMails()).toBe(before);
      expect(await pending()).toEqual(pendingBefore);
      const { stdout } = await cli('user', 'invite', 'addressless', '--print-link');
      expect(stdout).toMatch(/^mailed: false$/m);
      expect(stdout).toMatch(/^link: http:\/\/portal\.test\/reset-password\?uid=/m);
    });
  });

  describe('config set', () => {
    const inForce = async () => (await replicas.get('/password-policy')).body.data as Record<string, unknown>;
    const until = (minLength: number) =>
      eventually(
        async () => {
          const policy = await inForce();
          return policy.min_length === minLength ? policy : undefined;
        },
        { what: `a policy of ${minLength} characters` },
      );

    it('a new policy is in force in a running process without a restart, and an invalid one is refused', async () => {
      expect(
        (await cli('config', 'set', 'CONFIG', 'PASSWORD_POLICY', '{"min_length":16,"require_special":true}')).code,
      ).toBe(0);
      expect(await until(16)).toMatchObject({ min_length: 16, require_special: true, require_upper: true });
      expect(await refusal('config', 'set', 'CONFIG', 'PASSWORD_POLICY', '{"min_lenght":8}')).toMatch(
        /^CONFIG PASSWORD_POLICY was not changed: /,
      );
      expect(await inForce()).toMatchObject({ min_length: 16 });
      expect((await cli('config', 'unset', 'CONFIG', 'PASSWORD_POLICY')).code).toBe(0);
      expect(await until(12)).toMatchObject({ min_length: 12, require_special: false });
    });

    it('the secret of the mail server is encrypted in the table and hidden in the output', async () => {
      const secret = 'a-password-of-smtp';
      const { stdout } = await cli('config', 'set', 'SMTP', 'SECRET', secret);
      expect(stdout).toContain('(hidden)');
      const rows = await replicas.rows(`SELECT value FROM system_configs WHERE \`group\` = 'SMTP'`);
      expect(JSON.stringify(rows)).not.toContain(secret);
      for (const args of [['get', 'SMTP', 'SECRET'], ['list']]) {
        const shown = (await cli('config', ...args)).stdout;
        expect(shown).toContain('(hidden)');
        expect(shown).not.toContain(rows[0]?.value);
      }
      expect(JSON.stringify(await replicas.rows('SELECT * FROM audit_logs'))).not.toContain(secret);
    });
  });
});
