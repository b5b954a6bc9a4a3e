import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { loadConfig } from '../../src/settings/app-config';
import { CommandLine } from '../support/command-line';
import { find, renderedJob, ROOT } from '../support/manifests';
import { repeatedWhileOverloaded } from '../support/overload';
import { type Ended, runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';
import { captchaToken, testSettings } from '../support/settings';

const password = 'Canary-Password-7';
const other = 'Canary-Password-8';

/** Runs commands as an operator types them, while a server runs on the same SQLite file. */
describe('the command line', () => {
  let directory: string;
  let env: Record<string, string>;
  let service: ServiceProcess;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cli-'));
    env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      // Many logins run in parallel with many commands here. The service must not refuse them on a busy machine.
      HASH_QUEUE_MAX_WAIT_MS: '60000',
    };
    service = await ServiceProcess.start({ env });
    await text(['user', 'create', '--login-name', 'Taken', '--email', 'Taken@Example.com', '--password', password]);
  });
  afterAll(async () => {
    await service.kill();
    await rm(directory, { recursive: true });
    await commandLine.stop();
  });

  const commandLine = new CommandLine(2);
  const run = (args: string[], input?: string, more: Record<string, string | undefined> = {}): Promise<Ended> =>
    commandLine.run(args, { env: { ...env, ...more }, cwd: directory, input });

  /** Runs a command that has to succeed. Returns its output, and checks that it contains no secret and no error. */
  async function text(args: string[], input?: string): Promise<string> {
    const ended = await run(args, input);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).not.toMatch(/canary|\$2[aby]\$/i);
    return ended.stdout;
  }
  const json = async (args: string[], input?: string) =>
    JSON.parse(await text([...args, '--json'], input)) as Record<string, any>;

  async function refused(
    args: string[],
    { input, more }: { input?: string; more?: Record<string, string | undefined> } = {},
  ): Promise<string> {
    const { code, stdout, stderr } = await run(args, input, more);
    expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
    expect(stderr).toMatch(/^\S[^\n]*\n$/);
    expect(stderr).not.toMatch(/canary| at .*:\d+|undefined|\[object/i);
    return stderr.trim();
  }

  let made = 0;
  /** Creates a user for one test. */
  const givenUser = async (...more: string[]) => {
    const name = `user${++made}`;
    const created = await json(['user', 'create', '--login-name', name, '--password', password, ...more]);
    return { name, uid: created.uid as string };
  };

  async function login(username: string, typed = password): Promise<{ status: number; body: any }> {
    const response = await fetch(`${service.url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password: typed, captcha_token: captchaToken }),
    });
    return { status: response.status, body: await response.json() };
  }
  const codeOf = async (username: string, typed?: string) => (await login(username, typed)).body.error_code as string;
  const me = async (token: string) =>
    (await fetch(`${service.url}/user/me`, { headers: { authorization: `Bearer ${token}` } })).status;

  describe('migrate', () => {
    it('creates the schema of an empty database, and says when there is nothing to do', async () => {
      const fresh = { DATABASE_URL: `sqlite:${join(directory, 'fresh.sqlite')}`, MIGRATE_ON_START: 'false' };
      expect(await refused(['user', 'list'], { more: fresh })).toMatch(/migrate/);
      const first = await run(['migrate', '--json'], '', fresh);
      expect(JSON.parse(first.stdout)).toEqual({
        ran: [expect.stringMatching(/^Init\d+$/), ...JSON.parse(first.stdout).ran.slice(1)],
      });
      expect(await run(['migrate', '--json'], '', fresh)).toEqual({ code: 0, stdout: '{"ran":[]}\n', stderr: '' });
      expect((await run(['migrate'], '', fresh)).stdout).toBe('nothing to do\n');
      expect(await run(['user', 'list', '--json'], '', fresh)).toMatchObject({ code: 0, stdout: '[]\n' });
    });
  });

  describe('user create', () => {
    it('creates an account that can log in at once, and prints uid, login_name and email', async () => {
      const args = ['user', 'create', '--login-name', 'Alice', '--email', 'Alice@Example.com', '--password', password];
      expect(await json(args)).toMatchObject({
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        login_name: 'Alice',
        email: 'Alice@Example.com',
      });
      expect(await login('alice')).toMatchObject({ status: 200, body: { data: { change_password: false } } });
    });

    it('without --json prints the same values as readable text', async () => {
      const printed = await text(['user', 'create', '--login-name', 'plain', '--password', password]);
      expect(printed).toMatch(/^uid: [0-9a-f-]{36}$/m);
      expect(printed).toMatch(/^login_name: plain$/m);
    });

    it.each([
      ['with a DOS line break', `${password}\r\n`, password],
      ['with spaces and characters outside ASCII', ' Canary 密码 🔑 7 \n', ' Canary 密码 🔑 7 '],
    ])('--password-stdin takes the password as it is, %s at its end', async (_what, input, typed) => {
      const name = `stdin${++made}`;
      await text(['user', 'create', '--login-name', name, '--password-stdin'], input);
      expect((await login(name, typed)).status).toBe(200);
    });

    it('stores the value of every option', async () => {
      const options = [
        '--email',
        'o@example.com',
        '--nickname',
        'Nick',
        '--status',
        '-1',
        '--mfa-type',
        'totp',
        '--admin',
        '--temporary',
        '--tenant',
        'root',
      ];
      const { name } = await givenUser(...options);
      expect(await json(['user', 'show', name])).toMatchObject({
        email: 'o@example.com',
        nickname: 'Nick',
        status: -1,
        mfa_type: 'totp',
        is_admin: true,
        must_change_password: true,
        tenant_id: 'root',
        provider: 'password',
      });
      const ldap = await json(['user', 'create', '--login-name', 'directory', '--provider', 'ldap']);
      expect(ldap).toMatchObject({ provider: 'ldap', email: null });
    });

    it('with --temporary the first login requires a password change with a request of type 0', async () => {
      const { name } = await givenUser('--temporary');
      const { body } = await login(name);
      expect(body.data).toMatchObject({ change_password: true, access_token: null, change_uid: expect.any(String) });
      const request = await fetch(`${service.url}/user/change-pwd-req/${body.data.change_uid}`);
      expect(await request.json()).toMatchObject({ data: { type: 0, status: 0 } });
    });

    it.each([
      [['--login-name', 'a\u0007b'], /login name/],
      [['--login-name', 'ｔａｋｅｎ'], /taken/],
      [['--login-name', 'x1', '--email', 'a@example.com\r\nBcc: b@example.com'], /e-mail/],
      [['--login-name', 'x1', '--password', ''], /password/],
      [['--login-name', 'x1', '--password', '密'.repeat(25)], /72 bytes/],
      [['--login-name', 'x1', '--password', 'canary', '--password-stdin'], /exclude/],
      [['--login-name', 'x1', '--status', ''], /status/],
      [['--login-name', 'x1', '--mfa-type', 'sms'], /mfa-type/],
      [['--login-name', 'x1', '--provider', 'oauth'], /provider/],
      [['--login-name', 'x1', '--org-unit', 'nowhere'], /unit/],
      [['--login-name', 'x1', '--colour', 'red'], /colour/],
      [['--login-name', 'x1', 'surplus'], /argument/],
      [[], /login-name/],
    ] as [string[], RegExp][])(
      'the options %j are refused with one line, and no account is created',
      async (args, reason) => {
        expect(await refused(['user', 'create', ...args])).toMatch(reason);
        expect(await codeOf('x1')).toBe('LOGIN_404001');
      },
    );

    it.each([
      ['canary', 'at least 12 characters, an upper-case letter, a digit'],
      ['canary-canary-7', 'an upper-case letter'],
      ['CANARY-CANARY-7', 'a lower-case letter'],
      ['Canary-Canary', 'a digit'],
    ])(
      'a password that does not meet the policy (%s) is refused, and the message says what it lacks',
      async (weak, lacks) => {
        const reason = `the password does not meet the policy, it needs ${lacks}; --force accepts it anyway`;
        expect(await refused(['user', 'create', '--login-name', 'x1', '--password', weak])).toBe(reason);
        expect(await refused(['user', 'create', '--login-name', 'x1', '--password', weak, '--temporary'])).toBe(reason);
        expect(await codeOf('x1')).toBe('LOGIN_404001');
      },
    );

    it('--force accepts a password that does not meet the policy, but refuses one that bcrypt cannot hash', async () => {
      await text(['user', 'create', '--login-name', 'forced', '--password', 'short', '--force']);
      expect((await login('forced', 'short')).status).toBe(200);
      for (const broken of ['', '密'.repeat(25)]) {
        const args = ['user', 'create', '--login-name', 'x1', '--force', '--password', broken];
        expect(await refused(args)).toMatch(/72 bytes/);
      }
    });

    it('a NUL in a password is refused', async () => {
      expect(
        await refused(['user', 'create', '--login-name', 'x1', '--password-stdin'], { input: 'canary\u0000x' }),
      ).toMatch(/NUL/);
    });
  });

  it('user show finds an account by any spelling of the name and by uid, and prints no secret', async () => {
    const { name, uid } = await givenUser();
    const shown = await json(['user', 'show', name]);
    expect(await json(['user', 'show', name.toUpperCase()])).toEqual(shown);
    expect(await json(['user', 'show', uid])).toEqual(shown);
    expect(Object.keys(shown)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(password|salt|topt_secret)$/)]),
    );
    expect(shown).toMatchObject({
      uid,
      status: 1,
      login_failed_count: 0,
      created_at: expect.stringMatching(/T.*\.\d{3}Z$/),
    });
    expect(await text(['user', 'show', name])).toContain(`uid: ${uid}`);
    expect(await refused(['user', 'show', 'nobody'])).toBe('there is no user "nobody"');
  });

  it('user list prints a line for each account', async () => {
    const { name } = await givenUser();
    const listed = (await json(['user', 'list'])) as unknown as Record<string, unknown>[];
    expect(listed.filter((row) => row.login_name === name)).toEqual([
      { uid: expect.any(String), login_name: name, email: null, status: 1, provider: 'password' },
    ]);
    expect((await text(['user', 'list'])).trim().split('\n')).toHaveLength(listed.length);
  });

  it('user set-status with another status than 1 ends the sessions, and a change back to 1 does not restore them', async () => {
    const { name } = await givenUser();
    const token = (await login(name)).body.data.access_token as string;
    for (const [status, code] of [
      [-1, 'LOGIN_401011'],
      [0, 'LOGIN_401012'],
      [-2, 'LOGIN_401012'],
    ] as const) {
      expect(await json(['user', 'set-status', name, `${status}`])).toMatchObject({ login_name: name, status });
      expect(await codeOf(name)).toBe(code);
    }
    expect(await me(token)).toBe(401);
    expect(await text(['user', 'set-status', name, '1'])).toContain('status: 1');
    expect((await login(name)).status).toBe(200);
    expect(await me(token)).toBe(401);
    for (const status of ['2', '', '--colour']) {
      expect(await refused(['user', 'set-status', name, status])).toMatch(/status|option/);
    }
    expect(await refused(['user', 'set-status', name])).toMatch(/status/);
    expect(await json(['user', 'show', name])).toMatchObject({ status: 1 });
  });

  it('user set-mfa changes the channel of the second factor', async () => {
    const { name } = await givenUser();
    expect(await json(['user', 'set-mfa', name, 'totp'])).toMatchObject({ mfa_type: 'totp' });
    expect(await text(['user', 'set-mfa', name, 'email'])).toContain('mfa_type: email');
    expect(await refused(['user', 'set-mfa', name, 'sms'])).toMatch(/email, totp/);
    expect(await json(['user', 'show', name])).toMatchObject({ mfa_type: 'email' });
  });

  it('user set-password changes the password, ends the sessions, and does not print the password', async () => {
    const { name, uid } = await givenUser();
    const directoryUser = { name: `ldap${++made}` };
    await text(['user', 'create', '--login-name', directoryUser.name, '--provider', 'ldap']);
    const token = (await login(name)).body.data.access_token as string;
    expect(await json(['user', 'set-password', name, '--password', other])).toEqual({
      uid,
      login_name: name,
      result: true,
    });
    expect([await codeOf(name), await me(token)]).toEqual(['LOGIN_401001', 401]);
    expect((await login(name, other)).status).toBe(200);
    await text(['user', 'set-password', name, '--password-stdin', '--temporary'], `${password}\n`);
    expect((await login(name)).body.data).toMatchObject({ change_password: true });
    expect(await refused(['user', 'set-password', name])).toMatch(/--password/);
    expect(await refused(['user', 'set-password', name, '--password', 'short'])).toMatch(/policy.*--force/);
    expect((await login(name)).body.data).toMatchObject({ change_password: true });
    await text(['user', 'set-password', name, '--password', 'short', '--force']);
    expect((await login(name, 'short')).status).toBe(200);
    expect(await refused(['user', 'set-password', name, '--password', 'canary'.repeat(13)])).toMatch(/72 bytes/);
    expect(await refused(['user', 'set-password', directoryUser.name, '--password', other])).toMatch(
      /no password in this service/,
    );
    expect(await refused(['user', 'set-password', 'nobody', '--password', other])).toMatch(/no user/);
  });

  it('user unlock ends the lock', async () => {
    const { name } = await givenUser();
    for (let n = 0; n < 3; n++) await login(name, 'wrong');
    expect(await codeOf(name)).toBe('LOGIN_401004');
    expect(await json(['user', 'unlock', name])).toMatchObject({ login_name: name, result: true });
    expect((await login(name)).status).toBe(200);
    expect(await text(['user', 'unlock', name])).toContain('result: true');
  });

  it('user revoke-tokens ends all sessions, and prints the number of tokens', async () => {
    const { name } = await givenUser();
    const tokens = [(await login(name)).body.data.access_token, (await login(name)).body.data.access_token] as string[];
    expect(await json(['user', 'revoke-tokens', name])).toMatchObject({ login_name: name, revoked: 4 });
    expect(await Promise.all(tokens.map(me))).toEqual([401, 401]);
    expect(await text(['user', 'revoke-tokens', name])).toContain('revoked: 0');
  });

  it('client create, list and revoke: the service answers the client from its creation until its revocation', async () => {
    const { name } = await givenUser();
    const token = (await login(name)).body.data.access_token as string;
    const { id, secret } = await json(['client', 'create', 'invoices']);
    const introspect = async () => {
      const response = await fetch(`${service.url}/introspect`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ token }),
      });
      return { status: response.status, body: (await response.json()) as object };
    };
    expect(await introspect()).toMatchObject({ status: 200, body: { active: true, username: name } });
    const listed = await text(['client', 'list']);
    expect(listed).toContain(`${id}\tinvoices\t`);
    expect(listed).not.toContain(secret);
    expect(await json(['client', 'revoke', id])).toEqual({ id, revoked: true });
    expect(await introspect()).toEqual({ status: 401, body: { error: 'invalid_client' } });
    expect(await text(['client', 'revoke', id])).toContain('revoked: false');
    expect(await refused(['client', 'revoke', 'nobody'])).toBe('there is no client "nobody"');
    expect(await refused(['client', 'create', ' '])).toContain('the name must have');
  });

  describe('user import', () => {
    const hash = '$2b$04$abcdefghijklmnopqrstuuW9jzJBfVhCDTq6PZ0CZpEhVSFJ8bLUK';
    const file = async (name: string, content: string | Buffer) => {
      const path = join(directory, name);
      await writeFile(path, content);
      return path;
    };
    const lines = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).join('\n');
    /** An import with bad rows exits with 1 and prints a report: the operator must know which rows are missing. */
    async function importWithProblems(path: string, ...more: string[]) {
      const { code, stdout, stderr } = await run(['user', 'import', path, '--json', ...more]);
      expect({ code, lines: stderr.trim().split('\n').length }).toEqual({ code: 1, lines: 1 });
      expect(stdout + stderr).not.toMatch(/canary/i);
      return JSON.parse(stdout) as {
        rows: number;
        created: number;
        skipped: number;
        failed: { row: number; login_name: string; problem: string }[];
      };
    }
    const names = async () =>
      new Set(((await json(['user', 'list'])) as unknown as { login_name: string }[]).map((row) => row.login_name));

    it('.csv: all columns, quoted or not, with a byte order mark; a second run changes nothing', async () => {
      const path = await file(
        'good.csv',
        '\ufefflogin_name,email,password,nickname,status,mfa_type,provider,is_admin,temporary\r\n' +
          `csv1,csv1@example.com,${password},"One, the ""first""",1,email,password,true,false\r\n` +
          `csv2,,${password},,0,totp,,,\r\n\r\n` +
          'csv3,csv3@example.com,,,,,ldap,,\r\n' +
          `csv4,csv4@example.com,${password},,,,,,1`,
      );
      const before = await names();
      const local = { email: null, tenant_id: 'root', provider: 'password', is_admin: false, role: null };
      expect(await json(['user', 'import', path, '--dry-run'])).toEqual({
        ...{ rows: 4, created: 4, skipped: 0, failed: [] },
        created_rows: [
          { ...local, row: 1, login_name: 'csv1', email: 'csv1@example.com', is_admin: true },
          { ...local, row: 2, login_name: 'csv2' },
          { ...local, row: 3, login_name: 'csv3', email: 'csv3@example.com', provider: 'ldap' },
          { ...local, row: 4, login_name: 'csv4', email: 'csv4@example.com' },
        ],
      });
      expect(await text(['user', 'import', path, '--dry-run'])).toBe(
        'row 1 (csv1): new user of the tenant root, administrator\n' +
          [2, 3, 4].map((n) => `row ${n} (csv${n}): new user of the tenant root\n`).join('') +
          '4 rows: 4 created, 0 exist, 0 failed\n',
      );
      expect(await names()).toEqual(before);
      expect(await json(['user', 'import', path])).toEqual({ rows: 4, created: 4, skipped: 0, failed: [] });
      expect(await json(['user', 'show', 'csv1'])).toMatchObject({
        nickname: 'One, the "first"',
        is_admin: true,
        email: 'csv1@example.com',
      });
      expect(await json(['user', 'show', 'csv2'])).toMatchObject({ status: 0, mfa_type: 'totp', email: null });
      expect(await json(['user', 'show', 'csv3'])).toMatchObject({ provider: 'ldap' });
      expect((await login('csv1')).status).toBe(200);
      expect((await login('csv4')).body.data).toMatchObject({ change_password: true });
      await json(['user', 'set-password', 'csv1', '--password', other]);
      expect(await text(['user', 'import', path])).toBe('4 rows: 0 created, 4 exist, 0 failed\n');
      expect((await login('csv1', other)).status).toBe(200);
    });

    it.each(['jsonl', 'ndjson'])('.%s: typed values, and password hashes of another system', async (ending) => {
      const bcrypt = (await import('@node-rs/bcrypt')).hash;
      const rows = [
        { login_name: `${ending}1`, password, status: 1, is_admin: true, email: `${ending}1@example.com` },
        { login_name: `${ending}2`, password_hash: (await bcrypt(password, { cost: 5 })).replace('$2b$', '$2a$') },
        { login_name: `${ending}3`, password_hash: await bcrypt(password, { cost: 4 }), temporary: true },
        { login_name: `${ending}4` },
      ];
      const path = await file(`good.${ending}`, `\ufeff${lines(rows)}\n\n`);
      expect(await json(['user', 'import', path])).toEqual({ rows: 4, created: 4, skipped: 0, failed: [] });
      expect(await json(['user', 'show', `${ending}1`])).toMatchObject({ is_admin: true, status: 1 });
      expect([(await login(`${ending}1`)).status, (await login(`${ending}2`)).status]).toEqual([200, 200]);
      expect((await login(`${ending}3`)).body.data).toMatchObject({ change_password: true });
      expect(await codeOf(`${ending}4`)).toBe('LOGIN_401001');
    });

    it('uid, times and the hashes of other systems are taken, the first login replaces the hash, a second run changes nothing', async () => {
      const seen = new Date(Date.now() - 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
      const rows = [
        {
          uid: 'Legacy_7',
          login_name: 'kept1',
          password_hash: `sha256-salted:salt:${createHash('sha256').update(`salt${password}`).digest('hex')}`,
          created_at: '2019-05-01T12:00:00+02:00',
          // The account would be dormant after a longer time without a login.
          last_login_success_time: seen,
        },
        { uid: 8, login_name: 'kept2', created_at: '2020-02-29', password_hash: hash },
        { uid: 'Legacy_7', login_name: 'kept3' },
        { uid: 'has space', login_name: 'kept4' },
        { uid: 'Legacy_9', login_name: 'KEPT1' },
        { login_name: 'kept5', created_at: 'yesterday' },
        { login_name: 'kept6', created_at: '2023-02-29' },
        { login_name: 'kept7', last_login_success_time: '2999-01-01T00:00:00Z' },
        { login_name: 'kept8', password_hash: '$argon2id$v=19$m=4194304,t=1,p=1$c29tZXNhbHQ$a2V5a2V5a2V5a2V5a2V5aw' },
      ];
      const path = await file('kept.jsonl', lines(rows));
      const dry = await importWithProblems(path, '--dry-run');
      expect(dry).toMatchObject({ rows: 9, created: 2 });
      const report = await importWithProblems(path);
      expect(report.failed.map(({ row, problem }) => [row, problem])).toEqual([
        [3, expect.stringMatching(/uid/)],
        [4, expect.stringMatching(/^uid must have 1 to 36 characters/)],
        [5, expect.stringMatching(/login name/)],
        [6, 'created_at must be a time such as 2024-05-01T10:00:00Z'],
        [7, 'created_at must be a time such as 2024-05-01T10:00:00Z'],
        [8, 'last_login_success_time must be a time from 1970 to today'],
        [9, expect.stringMatching(/^password_hash cannot be used: .*m from 8·p to 131072/)],
      ]);
      expect(dry.failed.map(({ row }) => row)).toEqual(report.failed.map(({ row }) => row));
      const database = new SqliteDatabase(join(directory, 'auth.sqlite'), { readonly: true });
      const columns = 'uid, created_at, last_login_success_time AS seen';
      const kept = database.prepare(`SELECT ${columns} FROM users WHERE login_name LIKE 'kept%' ORDER BY login_name`);
      expect(kept.all()).toEqual([
        { uid: 'Legacy_7', created_at: '2019-05-01 10:00:00.000', seen: `${seen}.000` },
        { uid: '8', created_at: '2020-02-29 00:00:00.000', seen: null },
      ]);
      database.close();
      expect(await login('kept1')).toMatchObject({ status: 200, body: { data: { user_info: { uid: 'Legacy_7' } } } });
      expect((await login('kept1')).status).toBe(200);
      expect(await importWithProblems(path)).toMatchObject({ created: 0, skipped: 2 });
      // The account is unused since 2020.
      expect(await json(['user', 'show', 'kept2'])).toMatchObject({ status: 1, dormant: true });
      expect(await json(['user', 'set-status', 'kept2', '1'])).toMatchObject({ status: 1, dormant: false });
    });

    it('takes the language of mails, and refuses a row with one that the service does not speak', async () => {
      const names = ['', 'de', 'zh-CN', 'fr', 'DE'];
      const rows = names.map((language, n) => `spoken${n},${language}`);
      const path = await file('spoken.csv', `login_name,language\n${rows.join('\n')}\n`);
      const problem = 'the language must be one of en, de, zh-CN';
      const report = {
        ...{ rows: 5, created: 3, skipped: 0 },
        failed: [
          { row: 4, login_name: 'spoken3', problem },
          { row: 5, login_name: 'spoken4', problem },
        ],
      };
      expect(await importWithProblems(path, '--dry-run')).toMatchObject(report);
      expect(await importWithProblems(path)).toEqual(report);
      const shown = await Promise.all([0, 1, 2].map((n) => json(['user', 'show', `spoken${n}`])));
      expect(shown.map(({ language }) => language as unknown)).toEqual([null, 'de', 'zh-CN']);
    });

    it('bad rows are reported by number, name and reason, good rows are imported, and a dry run reports the same', async () => {
      const rows = [
        { login_name: 'mixed1', password },
        { login_name: '', password },
        { password },
        { login_name: 'mixed2', email: 'a@example.com, b@example.com' },
        { login_name: 'mixed3', email: 'TAKEN@example.com' },
        { login_name: 'mixed4', password: 'canary'.repeat(13) },
        { login_name: 'mixed5', password, password_hash: hash },
        { login_name: 'mixed6', password_hash: 'canary' },
        { login_name: 'mixed7', password_hash: hash.replace('$04$', '$15$') },
        { login_name: 'mixed8', status: 7 },
        { login_name: 'mixed9', mfa_type: 'sms' },
        { login_name: 'mixed10', provider: 'ldap', password },
        { login_name: 'mixed11', tenant_id: 'nowhere' },
        { login_name: 'mixed12', is_admin: 'perhaps' },
        { login_name: 'mixed13', role: 'admin' },
        { login_name: { $ne: null }, password },
        { login_name: 'mixed14', password: ['canary'] },
        { login_name: 'mixed15', email: 'mixed15@example.com' },
        { login_name: 'mixed16', email: 'MIXED15@example.com' },
        { login_name: 'MIXED1', password },
      ];
      const path = await file(
        'mixed.jsonl',
        `${lines(rows)}\nnot json\n[1]\n${JSON.stringify({ login_name: 'mixed99' })}`,
      );
      const dry = await importWithProblems(path, '--dry-run');
      expect(await names()).not.toContain('mixed1');
      const wet = await importWithProblems(path);
      expect(wet).toMatchObject({ rows: 23, created: 3, skipped: 1 });
      expect(wet.failed.map(({ row }) => row)).toEqual([
        2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 19, 21, 22,
      ]);
      const planned = ['mixed1', 'mixed15', 'mixed99'].map((name) => expect.objectContaining({ login_name: name }));
      expect(dry).toEqual({ ...wet, created_rows: planned });
      expect([...(await names())].filter((name) => name.startsWith('mixed')).sort()).toEqual([
        'mixed1',
        'mixed15',
        'mixed99',
      ]);
      // A second run skips the good rows and reports the bad rows again.
      expect(await importWithProblems(path)).toMatchObject({ created: 0, skipped: 4 });
    });

    it('a row whose password does not meet the policy is refused without --force, and a row with a hash is accepted', async () => {
      const rows = [
        { login_name: 'weak1', password: 'short' },
        { login_name: 'weak2', password },
        { login_name: 'weak3', password_hash: hash },
      ];
      const path = await file('weak.jsonl', lines(rows));
      for (const more of [['--dry-run'], []]) {
        expect(await importWithProblems(path, ...more)).toMatchObject({
          created: 2,
          failed: [{ row: 1, login_name: 'weak1', problem: expect.stringMatching(/policy.*--force/) }],
        });
      }
      expect(await json(['user', 'import', path, '--force'])).toMatchObject({ created: 1, skipped: 2, failed: [] });
      expect((await login('weak1', 'short')).status).toBe(200);
    });

    it('a .csv row with too few or too many columns is reported as a bad row', async () => {
      const path = await file(
        'ragged.csv',
        `login_name,password,email\nragged1,${password},\nragged2\nragged3,${password},,surplus\nragged4,${password},\n`,
      );
      const report = await importWithProblems(path);
      expect(report).toMatchObject({ rows: 4, created: 2, failed: [{ row: 2 }, { row: 3 }] });
      expect(await names()).not.toContain('ragged2');
    });

    it.each([
      ['a file that is not there', 'missing.csv', undefined],
      ['a file that is not there', 'missing.jsonl', undefined],
      ['a file of an unsupported type', 'users.txt', 'login_name\nx\n'],
      ['a quote that never ends', 'quote.csv', 'login_name\n"canary\n'],
      ['a quote inside a password', 'opening.csv', 'login_name,password\nquoted,canary"x\n'],
      ['a password in Latin-1', 'latin-1.csv', Buffer.from('login_name,password\nlatin,canary-Äpfel-12\n', 'latin1')],
      ['a password in Latin-1', 'latin-1.jsonl', Buffer.from('{"login_name":"latin","password":"Äpfel"}', 'latin1')],
    ])('%s (%s) is refused with one line and exit 1', async (_what, name, content) => {
      const path = content === undefined ? join(directory, name) : await file(name, content);
      await refused(['user', 'import', path]);
    });

    it('reads standard input (-) and files without an ending in the format of --format', async () => {
      const csv = `login_name,password\npiped1,${password}\npiped2,${password}\n`;
      const created = { created: 2, skipped: 0, failed: [] };
      const piped = ['user', 'import', '-', '--format', 'csv'];
      expect(await json([...piped, '--dry-run'], csv)).toMatchObject(created);
      expect(await json(piped, csv)).toMatchObject(created);
      expect((await login('piped2')).status).toBe(200);
      const rows = [{ login_name: 'mounted1', password }, { login_name: 'mounted2' }];
      const path = await file('people', lines(rows));
      expect(await json(['user', 'import', path, '--format', 'jsonl'])).toMatchObject(created);
    });

    it('the example of deploy/kustomize/jobs/import is imported with the arguments of its Job', async () => {
      const { args } = find(renderedJob('import'), 'Job').spec.template.spec.containers[0] as { args: string[] };
      const path = join(ROOT, 'deploy/kustomize/jobs/import/people.csv');
      const local = args.map((arg) => (arg === '/run/input/people.csv' ? path : arg));
      expect(await json(local)).toMatchObject({ rows: 1, failed: [] });
    });

    it('standard input without a format, with an unknown one, or without any byte is refused', async () => {
      expect(await refused(['user', 'import', '-'], { input: 'login_name\nx\n' })).toContain(
        'give --format csv, jsonl',
      );
      expect(await refused(['user', 'import', '-', '--format', 'xlsx'])).toContain('must be one of csv, jsonl, ndjson');
      // `kubectl exec` without -i: "0 rows" would look like success.
      expect(await refused(['user', 'import', '-', '--format', 'csv'])).toContain('kubectl exec needs -i');
      expect(await refused(['user', 'import', '-', '--format', 'jsonl'])).toContain('kubectl exec needs -i');
      expect(await refused(['migrate', '--adopt', '-'])).toContain('kubectl exec needs -i');
      expect(await refused(['migrate', '--adopt', '-'], { input: '{' })).toBe('standard input: it is not JSON');
    });
  });

  describe('config', () => {
    const policy = async () =>
      (await (await fetch(`${service.url}/password-policy`)).json()) as { data: { min_length: number } };

    it('set, get, list and unset; a running server follows without a restart', async () => {
      const before = (await policy()).data.min_length;
      const rule =
        '{"min_length":20,"require_upper":true,"require_lower":true,"require_digit":true,"require_special":false}';
      expect(await json(['config', 'set', 'CONFIG', 'PASSWORD_POLICY', rule])).toMatchObject({
        group: 'CONFIG',
        key: 'PASSWORD_POLICY',
      });
      await eventually(async () => (await policy()).data.min_length === 20, { what: 'the new policy' });
      expect(JSON.parse(await text(['config', 'get', 'CONFIG', 'PASSWORD_POLICY']))).toMatchObject({ min_length: 20 });
      expect(await json(['config', 'list'])).toEqual(
        expect.arrayContaining([{ group: 'CONFIG', key: 'PASSWORD_POLICY', value: expect.stringContaining('20') }]),
      );
      expect(await json(['config', 'unset', 'CONFIG', 'PASSWORD_POLICY'])).toMatchObject({ removed: true });
      await eventually(async () => (await policy()).data.min_length === before, { what: 'the default' });
      expect(await json(['config', 'unset', 'CONFIG', 'PASSWORD_POLICY'])).toMatchObject({ removed: false });
      expect(await refused(['config', 'get', 'CONFIG', 'PASSWORD_POLICY'])).toMatch(/not set/);
    });

    it('a secret is taken from standard input, and never printed', async () => {
      expect(await json(['config', 'set', 'SMTP', 'SECRET', '--value-stdin'], 'canary-secret\n')).toMatchObject({
        value: '(hidden)',
      });
      expect(await text(['config', 'get', 'SMTP', 'SECRET'])).toBe('(hidden)\n');
      expect(await text(['config', 'list'])).toContain('SMTP\tSECRET\t(hidden)');
      expect(await text(['config', 'set', 'SMTP', 'SECRET', 'canary-again'])).toContain('(hidden)');
    });

    it.each([
      [['PORTAL', 'TITLE', 'x'], 'there is no group PORTAL: give CONFIG or SMTP'],
      [['SMTP', 'PROT', '25'], 'SMTP has no key PROT: give HOST, PORT, SENDER, USER, TLS, SECRET'],
      [['SMTP', 'PORT', '25', '--tenant', 'acme'], 'there is no tenant "acme"'],
      [['SMTP', 'PORT', '25', '--tenant', 'root '], 'there is no tenant "root "'],
    ])('config set %j is refused, because nothing would read the value', async (args, problem) => {
      expect(await refused(['config', 'set', ...args])).toBe(problem);
    });

    it.each([
      ['get', 'SMTP ', 'SECRET'],
      ['get', 'SMTP', 'SECRET '],
      ['unset', 'SMTP ', 'SECRET'],
    ])('config %s %j %j is refused: MariaDB would treat the padded name as the name of the secret', async (...args) => {
      expect(await refused(['config', ...args])).toMatch(/^group and key must have/);
      expect(await refused(['config', 'get', 'SMTP', 'HOST', '--tenant', 'root '])).toBe('there is no tenant "root "');
    });

    it.each([
      ['set', 'CONFIG', 'PASSWORD_POLICY', '{"canary":true'],
      ['set', 'SMTP', 'PORT', 'canary'],
      ['set', 'CONFIG', 'PASSWORD_POLICY'],
      ['set', 'a group', 'KEY', 'value'],
      ['frobnicate'],
    ])('config %s %s %s %s is refused with one line', async (...args) => {
      await refused(['config', ...args.filter((arg) => arg !== undefined)]);
    });
  });

  describe('keys generate', () => {
    it('prints new keys with which production starts, and needs no settings', async () => {
      const [one, two] = await Promise.all(
        [1, 2].map(() => runProgram('dist/src/cli.js', ['keys', 'generate', '--json'], { env: {}, cwd: directory })),
      );
      expect(one).toMatchObject({ code: 0, stderr: '' });
      const keys = JSON.parse(one?.stdout ?? '') as Record<string, string>;
      expect(Object.keys(keys)).toEqual(
        expect.arrayContaining(['JWT_SECRET', 'DATA_ENCRYPTION_KEY', 'JWT_PRIVATE_KEY']),
      );
      expect(one?.stdout).not.toBe(two?.stdout);
      const production = {
        ...keys,
        NODE_ENV: 'production',
        DATABASE_URL: 'mysql://u:p@h/a',
        SYSTEM_URL: 'https://p.example',
      };
      expect(loadConfig(production).jwt.algorithm).toBe('HS256');
      expect(loadConfig({ ...production, JWT_SECRET: '', JWT_ALGORITHM: 'ES256' }).jwt.signing.key.type).toBe(
        'private',
      );
    });

    it('prints lines for an environment file', async () => {
      const { stdout } = await runProgram('dist/src/cli.js', ['keys', 'generate'], { env: {}, cwd: directory });
      const keys = Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
      );
      expect(
        loadConfig({ JWT_SECRET: keys.JWT_SECRET, DATA_ENCRYPTION_KEY: keys.DATA_ENCRYPTION_KEY }).dataKeys,
      ).toHaveLength(1);
    });
  });

  describe('wrong usage', () => {
    it.each([[[]], [['user']], [['frobnicate']], [['user', 'frobnicate']], [['migrate', 'surplus']]])(
      'the arguments %j are refused with one line on standard error and exit 1',
      async (args: string[]) => {
        await refused(args);
      },
    );

    it('an invalid setting is reported with one line that names it', async () => {
      expect(await refused(['user', 'list'], { more: { JWT_SECRET: 'canary' } })).toMatch(
        /^configuration: JWT_SECRET /,
      );
      const url = `mysql://u:canary@127.0.0.1/a?ssl-ca=/canary`;
      expect(await refused(['migrate'], { more: { DATABASE_URL: url } })).toMatch(/^configuration: DATABASE_URL /);
    });

    it('an unreachable database is reported with one line that does not contain its address', async () => {
      const more = { DATABASE_URL: `mysql://u:canary@127.0.0.1:${await freePort()}/auth` };
      for (const args of [
        ['user', 'list'],
        ['migrate'],
        ['user', 'create', '--login-name', 'x', '--password', password],
      ]) {
        expect(await refused(args, { more })).toMatch(/database cannot be reached/);
      }
    });

    it('--help exits with 0', async () => {
      expect(await run(['--help'])).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('migrate') });
      expect(await run(['user', '--help'])).toMatchObject({
        code: 0,
        stderr: '',
        stdout: expect.stringContaining('revoke-tokens'),
      });
    });

    it.each([
      [['help', 'usr'], "unknown command 'usr'"],
      [['user', 'help', 'lst'], "unknown command 'lst'"],
      [['user'], 'a command is missing'],
    ])('%j tells what is wrong', async (args, what) => {
      expect(await refused(args)).toBe(`error: ${what}, see --help`);
    });
  });

  it('six commands in parallel with a steady stream of logins on one SQLite file all succeed', async () => {
    const { name } = await givenUser();
    const commands = Array.from({ length: 6 }, (_, n) => [
      'user',
      'create',
      '--login-name',
      `beside${n}`,
      '--password',
      password,
      '--json',
    ]);
    let running = true;
    const statuses: number[] = [];
    const stream = Array.from({ length: 4 }, async () => {
      while (running) statuses.push((await repeatedWhileOverloaded(() => login(name))).status);
    });
    const ended = await Promise.all(
      commands.map((args) => runProgram('dist/src/cli.js', args, { env, cwd: directory })),
    );
    running = false;
    await Promise.all(stream);
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(commands.map(() => ({ code: 0, stderr: '' })));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
