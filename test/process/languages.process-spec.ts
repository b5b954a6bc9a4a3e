import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installTools } from '../../tools/install.mjs';
import { LanguagePage, languages } from '../support/language-page';
import { Mailboxes } from '../support/mail/mailboxes';
import { runProgram } from '../support/run-program';
import { ServiceProcess } from '../support/servers/service-process';
import { Smtp } from '../support/servers/smtp';
import { captchaToken, password, testSettings } from '../support/settings';

/** The pages of docs/languages, as a reader follows them: generate, compile, run against the built service. */
describe('clients that a generator makes from /openapi-3.0.json', () => {
  let folder: string;
  let service: ServiceProcess;
  let smtp: Smtp;
  let mails: Mailboxes;

  beforeAll(async () => {
    // The generators. The unit tests install them before they start; a run of this file alone has them from here.
    installTools();
    folder = await mkdtemp(join(tmpdir(), 'languages-'));
    smtp = await Smtp.start();
    mails = new Mailboxes(smtp);
    const env = {
      ...testSettings,
      DATABASE_URL: `sqlite:${join(folder, 'auth.sqlite')}`,
      DATA_DIR: folder,
      MFA_REQUIRED: 'true',
      SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    };
    for (const name of Object.keys(languages)) {
      const user = ['--login-name', name, '--email', `${name}@example.com`, '--password', password];
      const { code, stderr } = await runProgram('dist/src/cli.js', ['user', 'create', ...user], { env, cwd: folder });
      if (code !== 0) throw new Error(stderr);
    }
    service = await ServiceProcess.start({ env });
  }, 600_000);
  afterAll(async () => {
    await service?.stop();
    await smtp?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('are those of the pages "Your language"', async () => {
    const pages = (await readdir(resolve(__dirname, '../../docs/languages'))).map((file) => file.replace('.md', ''));
    expect(pages.sort()).toEqual(Object.keys(languages).sort());
  });

  it.each(Object.keys(languages))(
    '%s: compiles, branches on the code of an error, signs in with a second factor, refreshes and reads the account',
    async (name) => {
      const page = await LanguagePage.open(name, join(folder, name), service.url);
      await page.build();
      const code = mails.next(`${name}@example.com`).then((text) => /\b\d{6}\b/.exec(text)?.[0] ?? '');
      const env = { LOGIN_NAME: name, PASSWORD: password, CAPTCHA_TOKEN: captchaToken };
      const printed = (await page.start(env, code)).replace('code: ', '').trim().split('\n');
      expect(printed).toEqual(['wrong password: LOGIN_401001', `signed in: ${name} ${name}@example.com`]);
    },
    300_000,
  );
});
