import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { repeatedWhileOverloaded } from '../support/overload';
import { runProgram } from '../support/run-program';
import { eventually } from '../support/servers/eventually';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { SecretsWatch } from '../support/secrets-watch';
import { captchaToken, dataKey, patientDatabase, testSettings } from '../support/settings';

const mark = 'Marked-Secret-7-2718281828';
const hash = '$2a$04$abcdefghijklmnopqrstuuW9jzJBfVhCDTq6PZ0CZpEhVSFJ8bLUK';

/**
 * What the built program and the command line print with the lowest level of the log, and what they write into the
 * tables of the logs. The settings, the passwords, the imported hashes and the codes are marked.
 */
describe('no secret in the output of the programs, nor in the rows that they write', () => {
  let databaseUrl: string;
  let directory: string;
  let smtp: Smtp;
  let watch: SecretsWatch;
  beforeEach(async () => {
    databaseUrl = await MariaDbDatabases.shared().freshDatabase();
    directory = await mkdtemp(join(tmpdir(), 'leaks-'));
    smtp = await Smtp.start({ account: { user: 'sender', password: `${mark}-smtp` } });
    watch = new SecretsWatch();
  });
  afterEach(async () => {
    await smtp.stop();
    await rm(directory, { recursive: true, force: true });
    await MariaDbDatabases.shared().drop(databaseUrl);
  });

  /** The settings of the program, each with a secret of its own. */
  function settings(): Record<string, string> {
    const smtpUrl = new URL(`${smtp.url}?tls=none`);
    smtpUrl.username = 'sender';
    smtpUrl.password = `${mark}-smtp`;
    const secrets = {
      JWT_SECRET: `${mark}-of-the-tokens-which-is-long-enough`,
      DATA_ENCRYPTION_KEY: dataKey(mark),
      SMTP_URL: smtpUrl.href,
      WEBHOOK_SECRET: `whsec_${Buffer.from(`${mark}-of-the-webhook`).toString('base64')}`,
      LDAP_BIND_PASSWORD: `${mark}-of-the-directory`,
      CAPTCHA_SECRET: `${mark}-of-the-captcha`,
    };
    watch.settings({ ...secrets, DATABASE_URL: databaseUrl });
    return {
      ...testSettings,
      ...patientDatabase,
      ...secrets,
      DATABASE_URL: databaseUrl,
      LOG_LEVEL: 'trace',
      AUDIT_STREAM: 'stdout',
      MFA_REQUIRED: 'true',
      // Nothing listens on this port, so that every request to these servers fails.
      WEBHOOK_URL: 'http://127.0.0.1:9/hook',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      LDAP_URL: 'ldap://127.0.0.1:9',
      LDAP_BIND_DN: 'cn=service',
      LDAP_SEARCH_BASE: 'dc=example',
      CAPTCHA_PROVIDER: 'turnstile',
      CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/siteverify',
    };
  }

  async function rowsOfLogs(): Promise<string> {
    const sql = await createConnection({ uri: databaseUrl });
    try {
      const tables = ['audit_logs', 'login_logs', 'event_outbox'];
      const rows = await Promise.all(tables.map(async (table) => (await sql.query(`SELECT * FROM ${table}`))[0]));
      return JSON.stringify(rows);
    } finally {
      await sql.end();
    }
  }

  it('the service: its start, logins, codes, links, servers that are away, and its end', async () => {
    const env = settings();
    const account = ['--login-name', 'alice', '--email', 'alice@example.com', '--password', `${mark}-right`];
    watch.add('the password of a user', `${mark}-right`);
    const created = await runProgram('dist/src/cli.js', ['user', 'create', ...account], { env, cwd: directory });
    expect(created).toMatchObject({ code: 0 });
    const service = await ServiceProcess.start({ env, cwd: directory });
    try {
      const post = (path: string, body: object, headers: Record<string, string> = {}) =>
        repeatedWhileOverloaded(async () => {
          watch.request(body, headers);
          const answer = await fetch(`${service.url}${path}`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            body: JSON.stringify(body),
          });
          const raw = Buffer.from(await answer.arrayBuffer());
          const parsed = JSON.parse(raw.toString());
          watch.answer(answer.status, parsed, raw);
          return { status: answer.status, headers: Object.fromEntries(answer.headers), body: parsed, raw };
        });
      const human = { captcha_token: captchaToken };
      const pending = await post('/login', { username: 'alice', password: `${mark}-right`, ...human });
      expect(pending.body.data.mfa_required).toBe(true);
      await post('/login', { username: 'alice', password: `${mark}-wrong`, ...human });
      await post('/login', { username: 'nobody', password: `${mark}-unknown`, ...human });
      // The provider of captchas and the directory are away: the answer is 503, with every repetition.
      const away = (body: object) =>
        fetch(`${service.url}/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      watch.add('a password for the directory', `${mark}-ldap`);
      watch.add('a captcha', `${mark}-captcha`);
      const ldap = { username: 'bob', password: `${mark}-ldap`, provider: 'ldap' };
      expect((await away({ ...ldap, captcha_token: `${mark}-captcha` })).status).toBe(503);
      await away({ ...ldap, ...human });
      const [code] = await smtp.waitFor(1);
      const digits = /\b\d{6}\b/.exec(code?.mail.text ?? '')![0];
      const { uid } = pending.body.data.user_info;
      const open = { uid, type: 'email', mfa_token: pending.body.data.mfa_token };
      const wrong = await post('/otp-verify', { ...open, code: digits === '000000' ? '000001' : '000000' });
      expect(wrong.status).toBe(401);
      const session = await post('/otp-verify', { ...open, code: digits });
      expect(session.status).toBe(200);
      await post('/refresh', { refresh_token: session.body.data.refresh_token });
      expect((await post('/forget-password', { email: 'alice@example.com' })).status).toBe(200);
      const link = new URL(/https?:\S+\/reset-password\S*/.exec((await smtp.waitFor(2))[1]?.mail.text ?? '')![0]);
      const token = String(link.searchParams.get('uid'));
      watch.add('the link of a mail', [link.href, token]);
      await fetch(`${service.url}/user/change-pwd-req/${token}`);
      const change = { req_uid: token, password: `${mark}-New`, confirm_password: `${mark}-New` };
      expect((await post('/user/change-pwd-by-req', change)).status).toBe(200);
      await eventually(() => service.lines.some((line) => line.includes('"user.password_changed"')), {
        what: 'the change is in the stream of the audit',
      });
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    } finally {
      await service.kill();
    }
    const output = service.lines.join('\n');
    expect(output).toContain('"log":"audit"');
    expect(output).toContain('"msg":"request"');
    const rows = await rowsOfLogs();
    expect(rows).toContain('USER_RESET_PASSWORD');
    watch.assertAbsent({ output, rows });
    for (const digits of watch.codes)
      expect(`${output}${rows}`).not.toMatch(new RegExp(`(?<![\\w.:-])${digits}(?![\\w.:-])`));
  });

  it('the command line: accounts, imports, an adoption, doctor, and settings and files that are refused', async () => {
    const env = settings();
    watch.add('an imported hash', hash);
    await writeFile(
      join(directory, 'people.csv'),
      `login_name,email,password_hash\nimported,imported@example.com,${hash}\nbroken,not-an-address,${hash}\n`,
    );
    const hashes = [hash, `$md5$${mark}-hash`, `${hash.slice(0, 30)}${mark}`];
    watch.add('a hash of the other system', hashes);
    const sql = await createConnection({ uri: databaseUrl });
    await sql.query('CREATE TABLE former_users (id INT, name VARCHAR(99), mail VARCHAR(99), pw VARCHAR(99))');
    for (const [n, pw] of hashes.entries()) {
      await sql.query('INSERT INTO former_users VALUES (?, ?, ?, ?)', [
        n,
        `adopted${n}`,
        `adopted${n}@example.com`,
        pw,
      ]);
    }
    await sql.end();
    const columns = { uid: 'id', login_name: 'name', email: 'mail', password_hash: 'pw' };
    await writeFile(join(directory, 'plan.json'), JSON.stringify({ source: 'former_users', columns }));
    const passwords = ['create', 'set', 'refused'].map((what) => `${mark}-${what}`);
    watch.add('a password of the command line', passwords);
    const ann = ['--login-name', 'ann', '--email', 'ann@example.com', '--password', passwords[0]!];
    const commands: [string[], Record<string, string>?][] = [
      [['migrate']],
      [['user', 'create', ...ann]],
      [['user', 'create', ...ann]],
      [['user', 'set-password', 'ann', '--password', passwords[1]!]],
      [['user', 'set-password', 'nobody', '--password', passwords[1]!]],
      [['user', 'set-password', 'ann', '--pasword', passwords[2]!]],
      [['user', 'import', 'people.csv']],
      [['migrate', '--adopt', 'plan.json', '--dry-run']],
      [['migrate', '--adopt', 'plan.json']],
      [['doctor']],
      [['doctor'], { SMTP_URL: env.SMTP_URL!.replace(`${mark}-smtp`, `${mark}-other`) }],
      [['doctor'], { DATABASE_URL: databaseUrl.replace(/:[^:@]+@/, `:${mark}-database@`) }],
      [['doctor'], { JWT_SECRET: mark.slice(0, 20), DATA_ENCRYPTION_KEY: `${mark}-no-key` }],
      [['user', 'list'], { WEBHOOK_SECRET: `${mark}-no-webhook-secret`, JWT_SECRETT: `${mark}-misspelt` }],
    ];
    watch.add(
      'a refused setting',
      ['other', 'database', 'no-key', 'no-webhook-secret', 'misspelt'].map((what) => `${mark}-${what}`),
    );
    let output = '';
    const codes = [];
    for (const [args, more] of commands) {
      const { code, stdout, stderr } = await runProgram('dist/src/cli.js', args, {
        env: { ...env, ...more },
        cwd: directory,
      });
      codes.push(code);
      output += `${args.slice(0, 2).join(' ')}\n${stdout}\n${stderr}\n`;
    }
    // An import and an adoption with rows that are refused end with 1, as does `doctor` when a server is away.
    expect(codes).toEqual([0, 0, 1, 0, 1, 1, ...Array<number>(8).fill(1)]);
    for (const part of ['broken', 'adopted1', 'EAUTH', 'LDAP_URL']) expect(output).toContain(part);
    watch.assertAbsent({ output, rows: await rowsOfLogs() });
    expect(await readFile(join(directory, 'people.csv'), 'utf8')).toContain(hash);
  });
});
