import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { password, TestService } from '../support/app';
import { captchaByTestClock } from '../support/captcha/test-clock';
import { buildExample, buildExamples } from '../support/examples';
import { FakeClock } from '../support/fakes';
import { goodPassword, newMails } from '../support/reset';
import { Chromium } from '../support/servers/chromium';
import { eventually } from '../support/servers/eventually';
import { freePort } from '../support/servers/free-port';
import { ServiceProcess } from '../support/servers/service-process';

/** The page uses the packed SDK, and the service is of another origin. */
describe('examples/react-page', () => {
  let service: TestService;
  let folder: string;
  let site: ServiceProcess;
  let chromium: Chromium;
  const complaints: string[] = [];

  beforeAll(async () => {
    const [port, pagePort] = [await freePort(), await freePort()];
    service = await TestService.start(
      { PORT: `${port}`, MFA_REQUIRED: 'true', CORS_ORIGINS: `http://127.0.0.1:${pagePort}` },
      { clock: new FakeClock(new Date()) },
    );
    captchaByTestClock(service);
    await service.app.listen(port, '127.0.0.1');
    folder = await mkdtemp(join(tmpdir(), 'react-page-'));
    await buildExamples();
    await buildExample('react-page', { VITE_AUTH_URL: `http://127.0.0.1:${port}` }, '--outDir', folder);
    site = await ServiceProcess.start({
      script: 'node_modules/vite/bin/vite.js',
      args: ['preview', ...['--outDir', folder, '--host', '127.0.0.1', '--port', `${pagePort}`, '--strictPort']],
      cwd: resolve(__dirname, '../../examples/react-page'),
      env: { PORT: `${pagePort}` },
      ready: '/',
    });
    chromium = await Chromium.start();
  });
  afterAll(async () => {
    // Some of them are missing when the example does not build.
    await Promise.all([chromium?.stop(), site?.stop(), service?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => expect(complaints.splice(0)).toEqual([]));

  const open = async (): Promise<Page> => {
    const page = await chromium.newPage();
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(site.url);
    return page;
  };
  const heading = (page: Page, name: string) => page.getByRole('heading', { name });
  const submit = async (page: Page, button: string, fields: Record<string, string>): Promise<void> => {
    for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
    await page.getByRole('button', { name: button }).click();
  };
  const signIn = (page: Page, name: string, typed = password) =>
    submit(page, 'Sign in', { 'User name': name, Password: typed });

  it('signs in with the captcha and the mailed code, shows the account after a reload, and signs out', async () => {
    const { loginName } = await service.givenUser('rosa');
    const page = await open();
    await signIn(page, loginName, 'Wrong-Horse-7');
    await page.getByText('The user name or password is wrong.').waitFor();
    await signIn(page, loginName);
    await heading(page, 'Enter your code').waitFor();
    const code = /\b\d{6}\b/.exec((await newMails(service)).at(-1)?.text ?? '')?.[0];
    await submit(page, 'Confirm', { Code: String(code) });
    await heading(page, 'Hello, rosa').waitFor();
    await page.reload();
    await heading(page, 'Hello, rosa').waitFor();
    await page.getByText('rosa@example.com').waitFor();

    const stored = await page.evaluate<string>(`localStorage.getItem('portal-auth.session')`);
    const { access } = JSON.parse(stored) as { access: string };
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in').waitFor();
    await eventually(async () => (await service.get('/user/me', { bearer: access })).status === 401, {
      what: 'the token to be refused',
    });
  });

  it('asks for a new password in place of a temporary one', async () => {
    await service.givenUser('tim', { temporary: true });
    const page = await open();
    await signIn(page, 'tim');
    await heading(page, 'Choose a new password').waitFor();
    await submit(page, 'Save', { 'New password': goodPassword(1), 'Repeat it': goodPassword(2) });
    await page.getByRole('alert').waitFor();
    await submit(page, 'Save', { 'New password': goodPassword(1), 'Repeat it': goodPassword(1) });
    await heading(page, 'Sign in').waitFor();
    await signIn(page, 'tim', goodPassword(1));
    await heading(page, 'Enter your code').waitFor();
  });
});
