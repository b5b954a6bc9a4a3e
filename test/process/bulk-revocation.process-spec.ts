import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Replicas } from '../support/replicas';
import { captchaToken, password, testSettings } from '../support/settings';

const people = ['ann', 'bob', 'cid', 'dan'];
/** Ten batches. */
const crowd = 1000;

type Session = Record<'access_token' | 'refresh_token', string>;

/** `user revoke-tokens` and other commands for many users as an operator runs it, beside two replicas on MariaDB. */
describe('user revoke-tokens of many users', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    replicas = await Replicas.start();
    replicas.shareCommands();
    for (const name of people) await replicas.givenUser(name);
    await replicas.cli('tenant', 'create', 'acme', 'Acme');
    await replicas.rows(
      `INSERT INTO users (uid, login_name, login_name_key, status, tenant_id, created_at)
       SELECT CONCAT('crowd-', seq), CONCAT('crowd', seq), CONCAT('crowd', seq), -1, 'acme', UTC_TIMESTAMP(3)
       FROM seq_1_to_${crowd}`,
    );
  });
  afterAll(() => replicas.stop());

  const revoke = (...options: string[]) => replicas.run(['user', 'revoke-tokens', ...options]);
  const lives = async ({ access_token }: Session, n: number) =>
    (await replicas.get('/user/me', n, { authorization: `Bearer ${access_token}` })).status === 200;

  it('logins beside it: every session from before ends on each replica, every one from after lives, no request fails', async () => {
    const before: Session[] = [];
    for (const name of people) before.push((await replicas.login(name)).body.data as Session);
    let running = true;
    const answers: number[] = [];
    const during: Session[] = [];
    const load = people.map(async (name, n) => {
      while (running) {
        const { status, body } = await replicas.login(name, password, n);
        answers.push(status);
        if (status !== 200) continue;
        during.push(body.data as Session);
        const bearer = { authorization: `Bearer ${body.data.refresh_token as string}` };
        const refreshed = await replicas.post('/refresh', {}, n + 1, bearer);
        answers.push(refreshed.status);
      }
    });
    const run = await revoke('--all');
    running = false;
    await Promise.all(load);
    expect(run).toMatchObject({ code: 0, stderr: '', answer: { users: people.length + crowd, skipped: 0 } });
    const after: Session[] = [];
    for (const name of people) after.push((await replicas.login(name)).body.data as Session);
    for (const n of [0, 1]) {
      expect(await Promise.all(before.map((session) => lives(session, n)))).toEqual(people.map(() => false));
      expect(await Promise.all(after.map((session) => lives(session, n)))).toEqual(people.map(() => true));
    }
    // A refresh whose session has just ended gets 401, and so does a login whose version was increased meanwhile.
    expect(answers.filter((status) => status !== 200 && status !== 401)).toEqual([]);
    // Both replicas judge a session of that time alike.
    for (const session of during) expect(await lives(session, 0)).toBe(await lives(session, 1));
    expect(await replicas.rows('SELECT uid FROM users WHERE credential_version <> 1')).toEqual([]);
  });

  /** Runs the command, and sends the signal as soon as the first batch is reported. */
  async function interrupted(signal: 'SIGKILL' | 'SIGTERM') {
    const child = spawn(process.execPath, [resolve('dist/src/cli.js'), 'user', 'revoke-tokens', '--tenant', 'acme'], {
      env: { PATH: process.env.PATH, ...testSettings, DATABASE_URL: replicas.databaseUrl },
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += String(chunk);
      if (/^\d+ of \d+ users$/m.test(stderr)) child.kill(signal);
    });
    child.stdout.resume();
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stderr };
  }

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'a run that is ended by %s has done whole batches, and a run with --resume does the rest and no user twice',
    async (signal) => {
      await replicas.rows('UPDATE users SET credential_version = 0');
      await replicas.rows('DELETE FROM audit_logs');
      const { code, stderr } = await interrupted(signal);
      expect(code).toBe(signal === 'SIGTERM' ? 143 : null);
      if (signal === 'SIGTERM')
        expect(stderr).toMatch(/stopped by SIGTERM after \d+ users; run it again with --resume for the rest\n$/);
      const [{ done } = { done: 0 }] = await replicas.rows(
        "SELECT COUNT(*) AS done FROM users WHERE tenant_id = 'acme' AND credential_version = 1",
      );
      expect(done % 100).toBe(0);
      expect(done).toBeGreaterThanOrEqual(100);
      expect(done).toBeLessThan(crowd);
      const rest = await revoke('--tenant', 'acme', '--resume');
      const { users, skipped } = rest.answer as { users: number; skipped: number };
      expect(rest).toMatchObject({ code: 0, stderr: '', answer: { selected: crowd, users: crowd - skipped } });
      // The database may finish a batch whose process was killed while it committed.
      expect([done, done + 100]).toContain(skipped);
      expect(users).toBeGreaterThan(0);
      expect(
        await replicas.rows(
          `SELECT credential_version AS version, COUNT(*) AS n,
           (SELECT COUNT(DISTINCT user_id) FROM audit_logs WHERE event = 'USER_TOKENS_REVOKED') AS audited,
           (SELECT COUNT(*) FROM audit_logs WHERE event = 'USER_TOKENS_REVOKED') AS audits
           FROM users WHERE tenant_id = 'acme' GROUP BY credential_version`,
        ),
      ).toEqual([{ version: 1, n: crowd, audited: crowd, audits: crowd }]);
      expect(await revoke('--tenant', 'acme', '--resume')).toMatchObject({
        code: 1,
        stderr: 'no run with these conditions was interrupted: leave out --resume to begin a new one\n',
      });
    },
  );

  it('--dry-run counts and changes nothing, and conditions apply together', async () => {
    const state = () => replicas.rows('SELECT uid, credential_version FROM users ORDER BY uid');
    const before = await state();
    const count = async (...options: string[]) => (await revoke(...options, '--dry-run')).answer as object;
    expect(await count('--all')).toEqual({ selected: crowd + people.length });
    expect(await count('--tenant', 'acme')).toEqual({ selected: crowd });
    expect(await count('--where', 'status=1')).toEqual({ selected: people.length });
    expect(await count('--where', 'status=-1', '--where', 'is_admin=true')).toEqual({ selected: 0 });
    expect(await count('--tenant', 'acme', '--where', 'status=1')).toEqual({ selected: 0 });
    expect(await count('--where', 'provider=password', '--where', 'mfa_type=email', '--tenant', 'root')).toEqual({
      selected: people.length,
    });
    expect(await state()).toEqual(before);
  });

  it.each([
    [['--where', 'staus=1'], /^--where must be one of status=…, provider=…, .*, not "staus=1"\n$/],
    [['--where', 'constructor=1'], /^--where must be one of status=/],
    [['--where', 'status'], /^--where must be one of status=/],
    [['--where', 'status=enabled'], /^the status must be one of 1, 0, -1, -2\n$/],
    [['--where', 'status=1', '--where', 'status=0'], /^--where status is given twice\n$/],
    [['--tenant', 'acmee'], /^there is no tenant "acmee"\n$/],
    [['--tennant', 'acme'], /^error: unknown option '--tennant' .*--tenant/],
    [['--all', '--tenant', 'acme'], /^--all selects every account/],
    [['ann', '--all'], /^give either the name of one account or/],
    [['ann', '--dry-run'], /^give either the name of one account or/],
    [[], /^name an account, or give --all, --tenant or --where\n$/],
    [['--resume'], /^name an account, or give --all/],
  ])('%j is refused with one line, and no session ends', async (options, problem) => {
    const before = await replicas.rows('SELECT SUM(credential_version) AS sum FROM users');
    const { code, answer, stderr } = await revoke(...options);
    expect({ code, answer }).toEqual({ code: 1, answer: undefined });
    expect(stderr).toMatch(problem);
    expect(stderr.trim()).not.toContain('\n');
    expect(await replicas.rows('SELECT SUM(credential_version) AS sum FROM users')).toEqual(before);
  });

  describe('user reset-totp and user require-password-change', () => {
    const factors = async () =>
      (await replicas.rows('SELECT uid FROM users WHERE topt_secret IS NOT NULL ORDER BY uid')).length;
    const demanded = async () =>
      (await replicas.rows('SELECT login_name FROM users WHERE must_change_password = 1 ORDER BY login_name')).map(
        ({ login_name }) => login_name as string,
      );

    it('take names, names on standard input, a tenant and all, and --dry-run changes nothing', async () => {
      await replicas.rows("UPDATE users SET topt_secret = 'sealed', mfa_type = 'totp' WHERE login_name IN (?)", [
        people,
      ]);
      const reset = (...args: string[]) => replicas.cli('user', 'reset-totp', ...args);
      expect(await reset('--all', '--dry-run')).toEqual({ selected: people.length });
      expect(await reset('ann', 'bob', '--dry-run')).toEqual({ selected: 2 });
      expect(await factors()).toBe(people.length);
      expect(await reset('ann')).toMatchObject({ login_name: 'ann', result: true });
      expect(await reset('ann', 'bob', 'bob')).toEqual({ selected: 2, users: 2 });
      expect(await factors()).toBe(2);
      expect(await reset('--tenant', 'acme')).toEqual({ selected: 0, users: 0 });
      expect(await reset('--all')).toEqual({ selected: 2, users: 2 });
      expect(await factors()).toBe(0);

      const named = await replicas.run(['user', 'require-password-change', '-'], { input: 'cid\r\n\n dan \ncid\n' });
      expect(named).toMatchObject({ code: 0, answer: { selected: 2, users: 2 }, stderr: '' });
      expect(await demanded()).toEqual(['cid', 'dan']);
      const nobody = await replicas.run(['user', 'require-password-change', '-'], { input: '\n' });
      expect(nobody).toMatchObject({ code: 0, answer: { selected: 0, users: 0 } });
      expect((await replicas.login('cid')).body.data).toMatchObject({ change_password: true, access_token: null });
    });

    it.each([
      [[], '', /^give either names, - for those on standard input, --tenant or --all\n$/],
      [['ann', '--all'], '', /^give either names, - for/],
      [['--tenant', 'acme', '--all'], '', /^give either names, - for/],
      [['ann', '-'], 'bob', /^give either names, or - for those on standard input\n$/],
      [['ann', 'amn'], '', /^there is no user "amn"\n$/],
      [
        ['ann', 'person-of-the-directory'],
        '',
        /^"person-of-the-directory" has the password of the directory: change it there\n$/,
      ],
      [['--tenant', 'acmee'], '', /^there is no tenant "acmee"\n$/],
    ])('%j with the input %j is refused in one line, and changes nobody', async (args, input, problem) => {
      await replicas.rows(
        `INSERT IGNORE INTO users (uid, login_name, login_name_key, status, tenant_id, provider, created_at)
         VALUES ('elsewhere', 'person-of-the-directory', 'person-of-the-directory', 1, 'root', 'ldap', UTC_TIMESTAMP(3))`,
      );
      const before = await demanded();
      const { code, answer, stderr } = await replicas.run(['user', 'require-password-change', ...args], {
        input: input === '' ? undefined : input,
      });
      expect({ code, answer }).toEqual({ code: 1, answer: undefined });
      expect(stderr).toMatch(problem);
      expect(await demanded()).toEqual(before);
    });
  });

  it('a session of one user among them is unaffected by a run for another tenant', async () => {
    const { body } = await replicas.post('/login', { username: 'ann', password, captcha_token: captchaToken });
    expect(await revoke('--tenant', 'acme')).toMatchObject({ code: 0, answer: { users: crowd } });
    expect(await lives(body.data as Session, 0)).toBe(true);
  });
});
