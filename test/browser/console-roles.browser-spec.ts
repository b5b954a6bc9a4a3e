import type { Page, Request } from 'playwright-core';
import { givenApplication } from '../support/applications/application-rows';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { givenGroup } from '../support/groups';
import { openIdSettings } from '../support/openid';
import { eventually } from '../support/servers/eventually';

const texts = (page: Page, role: 'link' | 'button', within: string) =>
  page.locator(within).getByRole(role).allTextContents();

/** docs/spec/extensions.md#roles, as the holders of a role see it. */
describe('roles in the administration console', () => {
  let site: PortalSite;
  let anna: string;
  let group: string;
  let application: string;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...openIdSettings, ...copiedSessions });
    await seedInstallation(site.service);
    anna = (await site.service.givenUser('anna.acme', { nickname: 'Anna Acme', tenantId: 'acme' })).uid;
    await site.service.givenUser('adam.acme', { nickname: 'Adam Acme', tenantId: 'acme', isAdmin: true });
    group = await givenGroup(site.service, 'Berlin', { tenantId: 'acme' });
    application = await givenApplication(site.service, 'Grafana', null);
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** Opens the console as a new user. @returns the page, and how to read which requests the service has refused */
  const open = async (user: Parameters<PortalSite['newUser']>[0], heading: string) => {
    const page = await site.visitor();
    const waiting = new Set<Request>();
    const answers: string[] = [];
    page.on('request', (request) => waiting.add(request));
    page.on('requestfinished', (request) => waiting.delete(request));
    page.on('requestfailed', (request) => waiting.delete(request));
    page.on('response', (answer) => answer.status() === 403 && answers.push(answer.url()));
    /** After the answers to all requests. One that a change of the page cuts off may never end for the browser. */
    const refused = async () => {
      await eventually(() => Promise.resolve(waiting.size === 0), { what: 'all answers', timeout: 10_000 }).catch(
        () => undefined,
      );
      return answers;
    };
    await page.goto('/admin');
    await on(page).logIn(await site.newUser(user));
    await on(page).heading(heading).waitFor();
    return { page, refused };
  };
  const visit = async (page: Page, path: string, heading: string) => {
    await page.goto(`/admin#${path}`);
    await on(page).heading(heading).waitFor();
    // What is still on its way shows grey lines, or is busy.
    await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
  };

  it('an administrator of the root tenant gives a role by the dialog, and takes it', async () => {
    const { page } = await open({ isAdmin: true }, 'Overview');
    await visit(page, `/users/${anna}`, 'Anna Acme');
    await page.getByRole('button', { name: /: Make administrator$/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Right').selectOption('help_desk');
    await dialog.getByText('Give anna.acme a role?').waitFor();
    await look(page, 'role-dialog');
    await dialog.getByRole('button', { name: 'Give the role' }).click();
    await page.getByText('The user has the role now.').waitFor();
    await page.locator('.badge', { hasText: 'Help desk' }).waitFor();
    await look(page, 'role-given');
    await page.getByRole('button', { name: /: Take the role$/ }).click();
    await dialog.getByRole('button', { name: 'Take the role' }).click();
    await page.getByText('The user has no role any more.').waitFor();
    expect((await site.service.userRow(anna)).role).toBeNull();
  });

  it('a new user has the chosen role from the start', async () => {
    const { page } = await open({ isAdmin: true }, 'Overview');
    await visit(page, '/users/new', 'New user');
    await on(page).field('User name').fill('rita.review');
    await on(page).field('E-mail address').fill('rita.review@example.com');
    await on(page).field('Right').selectOption('auditor');
    await page.getByText('May read everything that an administrator reads').waitFor();
    await on(page).button('Create user').click();
    await on(page).heading('rita.review').waitFor();
    await page.locator('.badge', { hasText: 'Auditor' }).waitFor();
    expect(await site.service.count('users', "login_name = 'rita.review' AND role = 'auditor' AND is_admin = 0")).toBe(
      1,
    );
  });

  it('a help desk finds the users of the tenant, helps one, and sees no way to anything that would be refused', async () => {
    const { page, refused } = await open({ role: 'help_desk', tenantId: 'acme' }, 'Users');
    await becomes(() => texts(page, 'link', 'nav'), ['Users']);
    await page.getByRole('link', { name: 'Anna Acme' }).waitFor();
    expect(await page.getByRole('link', { name: 'New user' }).count()).toBe(0);
    await look(page, 'help-desk-users');
    await visit(page, `/users/${anna}`, 'Anna Acme');
    const actions = page.locator('.action-list').getByRole('button');
    await becomes(() => actions.count(), 5);
    expect(await on(page).button('Edit').count()).toBe(0);
    await look(page, 'help-desk-user');
    await page.getByRole('button', { name: /: Sign out everywhere$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByText('All sessions have ended.').waitFor();
    await visit(page, '/users', 'Users');
    await page.getByRole('link', { name: 'Adam Acme' }).click();
    await page.getByText('Only administrators of the root tenant may change administrators').waitFor();
    await becomes(() => actions.count(), 0);
    for (const path of ['/audit', '/settings/mail', '/users/new', `/users/${anna}/offboarding`]) {
      await visit(page, path, 'Page not found');
    }
    expect(await refused()).toEqual([]);
  });

  it('an auditor of the root tenant reads every page, and finds no button of a change', async () => {
    const { page, refused } = await open({ role: 'auditor' }, 'Overview');
    await look(page, 'auditor-overview');
    for (const [path, heading] of [
      ['/users', 'Users'],
      [`/users/${anna}`, 'Anna Acme'],
      ['/groups', 'Groups'],
      [`/groups/${group}`, 'Berlin'],
      ['/tenants', 'Tenants'],
      ['/tenants/acme', 'Acme Corporation'],
      ['/applications', 'Applications'],
      [`/applications/${application}`, 'Grafana'],
      ['/identity-providers', 'Identity providers'],
      ['/logins', 'Sign-ins'],
      ['/audit', 'Audit log'],
      ['/mails', 'Mails'],
      ['/events', 'Events'],
      ['/settings/password', 'Password policy'],
      ['/settings/mail', 'Mail server'],
    ] as const) {
      await visit(page, path, heading);
      const offered = [...(await texts(page, 'button', 'main')), ...(await texts(page, 'link', 'main'))];
      const changes = /^(new|edit|rename|create|delete|remove|add|save|send|replay|try|promote|disable|off-board)\b/i;
      expect([path, offered.filter((text) => changes.test(text.trim()))]).toEqual([path, []]);
    }
    await look(page, 'auditor-mail-settings');
    await visit(page, `/users/${anna}`, 'Anna Acme');
    await look(page, 'auditor-user');
    await becomes(() => page.locator('.action-list').getByRole('button').count(), 1);
    expect(await refused()).toEqual([]);
  });
});
