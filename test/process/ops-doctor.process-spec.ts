import { access, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, runProgram } from '../support/run-program';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { freePort } from '../support/servers/free-port';
import { Smtp } from '../support/servers/smtp';
import { Redis } from '../support/servers/redis';
import { dataKey, testSettings } from '../support/settings';

describe('doctor', () => {
  let databaseUrl: string;
  let redis: Redis;
  let smtp: Smtp;
  let provider: Server;
  let answer = '';
  let healthy: Record<string, string>;

  beforeAll(async () => {
    databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    redis = await Redis.start();
    smtp = await Smtp.start();
    provider = createServer((_, response) => response.end(answer));
    await new Promise<void>((done) => provider.listen(0, '127.0.0.1', done));
    healthy = {
      ...testSettings,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redis.url,
      SMTP_URL: smtp.url,
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_SECRET: 'the-provider-secret',
      CAPTCHA_VERIFY_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}/siteverify`,
    };
  });
  beforeEach(() => {
    answer = JSON.stringify({ success: false, 'error-codes': ['invalid-input-response'] });
  });
  afterAll(async () => {
    provider.close();
    await redis.stop();
    await smtp.stop();
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  /** Runs a command. Runs doctor again if a check met its time limit, which is two seconds for Redis. */
  async function cli(args: string[], env: Record<string, string>): Promise<Ended> {
    for (let attempt = 1; ; attempt++) {
      const ended = await runProgram('dist/src/cli.js', args, { env, cwd: process.cwd() });
      if (attempt === 3 || !/no answer within|timed? ?-?out|no clear answer/i.test(ended.stdout)) return ended;
    }
  }
  const doctor = async (env: Record<string, string> = {}) => {
    const run = await cli(['doctor', '--json'], { ...healthy, ...env });
    const findings = JSON.parse(run.stdout) as { check: string; status: string; text: string }[];
    return { ...run, of: Object.fromEntries(findings.map(({ check, status, text }) => [check, `${status}: ${text}`])) };
  };

  const onlyPending = 'doctor found nothing wrong, and migrations are pending: run `migrate`\n';

  it('doctor before the first migration says that the database is new, changes nothing, and exits with 2', async () => {
    for (let run = 0; run < 2; run++) {
      const { code, stderr, of } = await doctor();
      expect({ code, stderr }).toEqual({ code: 2, stderr: onlyPending });
      expect(of.migrations).toBe('pending: the database is new: run migrate');
      expect(of.writes).toBe('skipped: needs the migrations');
    }
    const { code, stderr } = await doctor({ REDIS_URL: 'redis://127.0.0.1:1' });
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'doctor found problems: redis\n' });
    expect(
      await MariaDbDatabases.shared().run(`SHOW TABLES FROM \`${new URL(databaseUrl).pathname.slice(1)}\``),
    ).toEqual([]);
  });

  it('doctor on a file of SQLite that does not exist makes neither the file nor its folder', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'doctor-'));
    try {
      const folder = join(directory, 'misspelt');
      const { code, stderr, of } = await doctor({ DATABASE_URL: `sqlite:${join(folder, 'auth.sqlite')}` });
      expect({ code, stderr }).toEqual({ code: 2, stderr: onlyPending });
      expect(of.database).toMatch(/^ok: SQLite /);
      expect(of.migrations).toBe('pending: the database is new: run migrate');
      await expect(access(folder)).rejects.toThrow('ENOENT');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('a wrong MIGRATE_ON_START stops doctor as it stops the service', async () => {
    const { code, stdout, stderr } = await cli(['doctor'], { ...healthy, MIGRATE_ON_START: '1' });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: 'configuration: MIGRATE_ON_START must be one of true, false\n',
    });
  });

  describe('on a migrated database', () => {
    beforeAll(() => cli(['migrate'], healthy));

    it('before an upgrade, doctor lists the migrations that wait, and exits with 2', async () => {
      const table = `\`${new URL(databaseUrl).pathname.slice(1)}\`.migrations`;
      const [last] = (await MariaDbDatabases.shared().run(
        `SELECT id, timestamp, name FROM ${table} ORDER BY id DESC LIMIT 1`,
      )) as { id: number; timestamp: number; name: string }[];
      await MariaDbDatabases.shared().run(`DELETE FROM ${table} WHERE id = ${last?.id}`);
      const { code, stderr, of } = await doctor();
      await MariaDbDatabases.shared().run(
        `INSERT INTO ${table} (id, timestamp, name) VALUES (${last?.id}, ${last?.timestamp}, '${last?.name}')`,
      );
      expect({ code, stderr }).toEqual({ code: 2, stderr: onlyPending });
      expect(of.migrations).toBe(`pending: the database is of an earlier version: run migrate (${last?.name})`);
    });

    it('prints one line for each check and exits with 0 when there is no problem', async () => {
      const { code, stdout, stderr } = await cli(['doctor'], healthy);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const lines = stdout.trimEnd().split('\n');
      for (const check of ['database', 'migrations', 'writes', 'clock', 'captcha', 'smtp', 'redis', 'keys']) {
        expect(lines.filter((line) => line.startsWith(`${check} `))).toEqual([expect.stringMatching(/^\S+ +ok /)]);
      }
      expect(lines.filter((line) => line.startsWith('ldap '))).toEqual([expect.stringContaining('skipped')]);
    });

    it.each([
      ['database', 'a refused password', { DATABASE_URL: 'mysql://tester:wrong@HOST/db' }, 'ER_ACCESS_DENIED_ERROR'],
      ['redis', 'nobody listening', { REDIS_URL: 'redis://127.0.0.1:PORT' }, 'ECONNREFUSED'],
      ['smtp', 'nobody listening', { SMTP_URL: 'smtp://user:the-smtp-password@127.0.0.1:PORT' }, 'ECONNREFUSED'],
      ['captcha', 'nobody listening', { CAPTCHA_VERIFY_URL: 'http://127.0.0.1:PORT' }, 'no clear answer'],
      [
        'ldap',
        'nobody listening',
        {
          LDAP_URL: 'ldap://127.0.0.1:PORT',
          LDAP_BIND_DN: 'cn=x',
          LDAP_BIND_PASSWORD: 'the-bind-password',
          LDAP_SEARCH_BASE: 'dc=x',
        },
        '',
      ],
    ])(
      '%s: %s is reported as a problem with its reason, and no other check is affected',
      async (check, _, settings, reason) => {
        const port = await freePort();
        const { host } = new URL(databaseUrl);
        const env = Object.fromEntries(
          Object.entries(settings).map(([key, value]) => [key, value.replace('PORT', `${port}`).replace('HOST', host)]),
        );
        const { code, stderr, stdout, of } = await doctor(env);
        expect(code).toBe(1);
        expect(stderr).toBe(`doctor found problems: ${check}\n`);
        expect(of[check]).toMatch(/^problem: /);
        expect(of[check]).toContain(reason);
        expect(of.keys).toMatch(/^ok/);
        expect(stdout).not.toMatch(/wrong|secret|password|that-is-long-enough/);
      },
    );

    it('captcha: a provider that refuses the secret is a problem', async () => {
      answer = JSON.stringify({ success: false, 'error-codes': ['invalid-input-secret'] });
      expect((await doctor()).of.captcha).toMatch(/^problem/);
    });

    it('MFA_REQUIRED without a mail server is a problem, because nobody gets a code', async () => {
      const { code, of } = await doctor({ MFA_REQUIRED: 'true', SMTP_URL: '' });
      expect(of.smtp).toMatch(/^problem: MFA_REQUIRED is true and no mail server is configured/);
      expect(code).toBe(1);
      expect((await doctor({ SMTP_URL: '' })).of.smtp).toMatch(/^skipped/);
    });

    it('warns of risky settings, and exits with 0', async () => {
      const production = {
        NODE_ENV: 'production',
        CAPTCHA_TEST_TOKEN: '',
        // The provider of the other tests has an http:// URL, which production refuses.
        ...{ CAPTCHA_PROVIDER: 'altcha', CAPTCHA_SECRET: '', CAPTCHA_VERIFY_URL: '' },
        BCRYPT_COST: '12',
        SYSTEM_URL: 'https://portal.test',
        MAIL_FROM: 'portal@example.com',
      };
      const { code, of } = await doctor(production);
      expect(of.settings).toBe(
        'warn: TRUSTED_PROXIES is empty: behind a proxy all clients have the address of the proxy',
      );
      expect(code).toBe(0);
      const proxied = { ...production, TRUSTED_PROXIES: '10.0.0.0/8' };
      expect((await doctor(proxied)).of.settings).toBe('ok: nothing to warn of');
      const misspelt = { ...proxied, OTEL_EXPORTER_OTLP_ENDPOIN: 'http://user:canary@collector:4318' };
      expect((await doctor(misspelt)).of.settings).toBe(
        'warn: OTEL_EXPORTER_OTLP_ENDPOIN has no effect, DID_YOU_MEAN OTEL_EXPORTER_OTLP_ENDPOINT',
      );
      expect((await doctor({ ...proxied, MAIL_FROM: '' })).of.settings).toMatch(/^warn: MAIL_FROM is the default/);
      // Names below `.invalid` never resolve (RFC 6761), so this checks only the setting.
      const remote = (parameters: string) =>
        doctor({ ...proxied, DATABASE_URL: `mysql://u:p@database.invalid/auth${parameters}` });
      expect((await remote('')).of.settings).toMatch(/^warn: DATABASE_URL has no ssl-mode/);
      expect((await remote('?ssl-mode=REQUIRED')).of.settings).toBe('ok: nothing to warn of');
    });

    it('prints the number of keys, and no key', async () => {
      const { stdout, of } = await doctor({
        JWT_PREVIOUS_KEYS: 'a-previous-jwt-key-that-is-long-enough-too',
        DATA_ENCRYPTION_KEY: [1, 2, 3].map(dataKey).join(','),
      });
      expect(of.keys).toBe(
        'ok: HS256 with 1 key and 1 previous, data encryption with 1 key and 2 previous; no long-lived value is encrypted with a previous key',
      );
      expect(stdout).not.toContain('a-previous-jwt-key');
    });

    it('purge runs from the command line', async () => {
      const { code, stdout } = await cli(['purge', '--json', '--logs-days', '30'], healthy);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ login_tokens: 0, login_logs: 0 });
      expect((await cli(['purge', '--logs-days', '0'], healthy)).code).toBe(1);
    });
  });
});
