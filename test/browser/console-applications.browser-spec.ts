import { randomUUID } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { openIdSettings } from '../support/openid';

const dialog = (page: Page) => page.getByRole('dialog');
const action = (page: Page, label: string) => page.getByRole('button', { name: new RegExp(`: ${label}$`) });
const focused = (page: Page): Promise<string> => page.evaluate<string>('document.activeElement.textContent.trim()');
const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
const copied = (page: Page): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');

describe('the applications in the administration console', () => {
  let site: PortalSite;
  let root: ReturnType<BrowserContext['storageState']>;
  let uid: string;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...openIdSettings, ...copiedSessions });
    await seedInstallation(site.service);
    uid = (await site.service.database.row<{ uid: string }>("SELECT uid FROM users WHERE login_name = 'hana.costa'"))!
      .uid;
    const page = await visitor();
    await page.goto('/admin');
    await on(page).logIn(await site.newUser({ isAdmin: true, nickname: 'Olivia Root' }));
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const visitor = async (options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await site.visitor({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
    // As the service writes it into its pages.
    const issuer = ['"portal:issuer" content=""', `"portal:issuer" content="${site.url}/oidc"`] as const;
    await page.route('**/admin', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace(...issuer) });
    });
    return page;
  };
  const opened = async (place: string, heading: string, options: BrowserContextOptions = {}): Promise<Page> => {
    const page = await visitor({ storageState: await root, ...options });
    await page.goto(`/admin${place}`);
    await on(page).heading(heading).waitFor();
    return page;
  };

  it('creates one, shows its secret once, and fills in the settings of the product', async () => {
    const page = await opened('#/applications', 'Applications');
    await page.getByText('There are no applications yet').waitFor();
    await look(page, 'applications-empty');
    await on(page).link('New application').click();
    await on(page).heading('New application').waitFor();
    await on(page).button('Create application').click();
    await page.getByText('Enter a name.').waitFor();
    await page.getByText('Enter at least one redirect URI.').waitFor();
    await page.getByLabel('Product').selectOption('Grafana');
    await on(page).field('Address of Grafana').fill('grafana.example.com/');
    await becomes(
      () => page.getByLabel('Redirect URIs', { exact: true }).last().inputValue(),
      'https://grafana.example.com/login/generic_oauth',
    );
    await look(page, 'application-new');
    await on(page).button('Create application').click();
    await on(page).heading('Grafana').waitFor();
    await page.getByText('The secret is shown only this time.').waitFor();
    await becomes(() => focused(page), expect.stringContaining('The secret is shown only this time.'));
    const secret = (await page.getByRole('group', { name: 'Client secret' }).textContent())!;
    await on(page).button('Copy: grafana.ini').click();
    await on(page).button('Copied').waitFor();
    expect(await copied(page)).toContain(`client_secret = ${secret}\n`);
    expect(await copied(page)).toContain(`auth_url = ${site.url}/oidc/auth\n`);
    await on(page).button('I have stored it').click();
    await page.getByText(secret).waitFor({ state: 'detached' });
    await page.getByText('Replace CLIENT_SECRET').waitFor();
    await on(page).button('Show my claims').click();
    await status(page, 'You may use this application.').waitFor();
    await page.getByRole('group', { name: 'ID token' }).getByText('"acr": "urn:portal:acr:1"').waitFor();
    await look(page, 'application');
    await page.locator('.up').click();
    await on(page).heading('Applications').waitFor();
    await page.getByRole('cell', { name: 'Web application' }).waitFor();
    await look(page, 'applications');
  });

  it('shows what is wrong with one redirect URI beside it, and saves only after it is right', async () => {
    const page = await opened('#/applications', 'Applications');
    await on(page).link('Grafana').click();
    await on(page).heading('Grafana').waitFor();
    await on(page).button('Edit').click();
    await on(page).button('Add: Redirect URIs').click();
    await page.keyboard.type('http://grafana.example.com/login/generic_oauth');
    await on(page).button('Save').click();
    const wrong = page.getByLabel('Redirect URIs 2', { exact: true });
    await page.getByText('Must be https').waitFor();
    expect(await wrong.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Redirect URIs 1', { exact: true }).getAttribute('aria-invalid')).toBe('false');
    await look(page, 'application-edit');
    await on(page).button('Remove: Redirect URIs 2').click();
    await on(page).field('Name').fill('Grafana at work');
    await on(page).button('Save').click();
    await on(page).heading('Grafana at work').waitFor();
    await page.locator('.toast', { hasText: 'The changes are saved.' }).waitFor();
    await page.locator('h2:focus', { hasText: 'Details' }).waitFor();
  });

  it('rotates the secret, disables, enables, and deletes after the name is typed', async () => {
    const page = await opened('#/applications', 'Applications');
    await on(page).link('Grafana at work').click();
    await action(page, 'Rotate secret').click();
    await dialog(page).getByLabel('The former secret works for').selectOption('7 days');
    await dialog(page).getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('group', { name: 'Client secret' }).waitFor();
    await on(page).button('I have stored it').click();
    // Only one former secret is kept.
    await action(page, 'Rotate secret').click();
    await dialog(page).getByText('With a new one, both end now.').waitFor();
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await action(page, 'Disable application').click();
    await dialog(page).getByRole('button', { name: 'Disable application' }).click();
    await status(page, 'The application is disabled.').waitFor();
    await action(page, 'Enable application').click();
    await dialog(page).getByRole('button', { name: 'Enable application' }).click();
    await status(page, 'The application is enabled.').waitFor();
    await action(page, 'Delete application').click();
    expect(await dialog(page).getByRole('button', { name: 'Delete application' }).isDisabled()).toBe(true);
    await dialog(page).getByLabel('Type Grafana at work to confirm').fill('Grafana at work');
    await dialog(page).getByRole('button', { name: 'Delete application' }).click();
    await on(page).heading('Application deleted').waitFor();
    await on(page).button('To the applications').click();
    await page.getByText('There are no applications yet').waitFor();
  });

  it('shows per session which application was told of its end, and what it answered', async () => {
    const grafana = { id: 'g', name: 'Grafana' };
    const nextcloud = { id: 'n', name: 'Nextcloud' };
    const [first, second] = [randomUUID(), randomUUID()];
    const at = new Date().toISOString();
    const of = (sid: string, application: object, more: object) => ({
      id: randomUUID(),
      sid,
      application,
      created_at: at,
      attempts: 1,
      answered_at: at,
      ...more,
    });
    const logouts = [
      of(first, grafana, { status: 'told', answer: '200' }),
      of(first, nextcloud, { status: 'waiting', answer: 'timeout', attempts: 3, answered_at: null }),
      of(second, nextcloud, { status: 'failed', answer: '404', attempts: 12 }),
    ];
    const page = await visitor({ storageState: await root });
    await page.route('**/logouts*', (route) =>
      route.fulfill({ json: { error_code: 'SUCCESS', error_msg: '', data: { logouts, next: null } } }),
    );
    await page.goto(`/admin#/users/${uid}`);
    await on(page).heading('Hana Costa').waitFor();
    await page.getByRole('heading', { name: 'Applications told of ended sessions' }).waitFor();
    await look(page, 'user-receipt');
    await on(page).link('All of them, to print').click();
    await on(page).heading('Receipt of ended sessions').waitFor();
    await page.getByText('Told: 1. Waiting: 1. Given up: 1.').waitFor();
    await page.getByRole('table', { name: `Applications of session ${first.slice(0, 8)}` }).waitFor();
    await look(page, 'receipt');
    await page.emulateMedia({ media: 'print' });
    await becomes(() => page.getByRole('navigation').count(), 0);
    await takePicture(page, 'receipt-print');
    await page.emulateMedia({ media: null });
  });
});
