import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { post } from '../support/post';
import { runProgram } from '../support/run-program';
import { freePort } from '../support/servers/free-port';
import { MariaDbDatabases } from '../support/servers/mariadb-databases';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { captchaToken, testSettings } from '../support/settings';

const password = 'Correct-Horse-7';

const login = async (service: ServiceProcess, username: string, provider = 'password') =>
  (await post(service, '/login', { username, password, provider, captcha_token: captchaToken })).body;

/** What is built is few files, with one copy of everything (ADR 0015). */
describe('the built program', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bundle-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** V8's coverage names each file that a process loaded. */
  async function loadedFiles(): Promise<string[]> {
    const reports = await Promise.all(
      (await readdir(directory)).map(
        async (name) =>
          JSON.parse(await readFile(join(directory, name), 'utf8')) as { result: readonly { url: string }[] },
      ),
    );
    return reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => url.startsWith('file:'));
  }

  it('loads no package beside what it holds, but a binary and the path of a page', async () => {
    const databases = MariaDbDatabases.shared();
    const url = await databases.freshDatabase();
    try {
      const env = { ...testSettings, DATABASE_URL: url, API_DOCS: 'true', NODE_V8_COVERAGE: directory };
      const service = await ServiceProcess.start({ env });
      expect((await fetch(`${service.url}/openapi.json`)).status).toBe(200);
      expect(await login(service, 'nobody')).toMatchObject({ error_code: 'LOGIN_404001' });
      await service.stop();
      const files = await loadedFiles();
      const packages = files.flatMap((file) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
      expect(new Set(packages)).toEqual(new Set(['@node-rs/bcrypt', 'swagger-ui-dist']));
      expect(files.filter((file) => !file.includes('/node_modules/') && !file.includes('/dist/src/bundle/'))).toEqual([
        `file://${resolve('dist/src/main.js')}`,
      ]);
    } finally {
      await databases.drop(url);
    }
  });

  it('finds what it loads later: a mail and its template, a QR code, the directory client, metrics, the page', async () => {
    const smtp = await Smtp.start();
    const metricsPort = await freePort();
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(directory, 'auth.sqlite')}`,
      API_DOCS: 'true',
      METRICS_PORT: `${metricsPort}`,
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}?tls=none`,
      MAIL_FROM: 'portal@example.com',
      LDAP_URL: `ldap://127.0.0.1:${await freePort()}`,
      LDAP_SEARCH_BASE: 'dc=example,dc=com',
      LDAP_BIND_DN: 'cn=reader,dc=example,dc=com',
      LDAP_BIND_PASSWORD: 'reader',
    };
    const service = await ServiceProcess.start({ env });
    try {
      for (const user of [
        ['later', '--email', 'later@example.com', '--password', password],
        ['of-the-directory', '--provider', 'ldap'],
      ]) {
        const create = ['user', 'create', '--login-name', ...user];
        expect(await runProgram('dist/src/cli.js', create, { env, cwd: directory })).toMatchObject({ code: 0 });
      }

      const { data } = await login(service, 'later');
      const bearer = { authorization: `Bearer ${data.access_token}` };
      const { body: enrolment } = await post(service, '/totp-secret', {}, bearer);
      expect(enrolment.data.secret).toMatch(/^[A-Z2-7]{32}$/);
      const picture = await fetch(`${service.url}/otp-qrcode/${data.user_info.uid}`, { headers: bearer });
      expect(picture.headers.get('content-type')).toBe('image/png');
      expect([...Buffer.from(await picture.arrayBuffer()).subarray(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);

      expect((await post(service, '/forget-password', { email: 'later@example.com' })).status).toBe(200);
      const [mail] = await smtp.waitFor(1);
      expect(mail?.to).toEqual(['later@example.com']);
      expect(mail?.mail.html).toContain('http://portal.test');

      expect(await login(service, 'of-the-directory', 'ldap')).toMatchObject({ error_code: 'LOGIN_503001' });
      expect(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()).toContain('auth_hash_concurrency');
      expect(await (await fetch(`${service.url}/docs/`)).text()).toContain('swagger-ui');
    } finally {
      await service.stop();
      await smtp.stop();
    }
  });
});
