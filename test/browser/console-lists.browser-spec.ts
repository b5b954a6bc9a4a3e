import type { Page } from 'playwright-core';
import { UserAccounts } from '../../src/users/user-accounts';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations } from '../support/browser/pictures';
import { PortalSite } from '../support/browser/portal-site';

const people = 130;

describe('the list of users in the console', () => {
  let site: PortalSite;
  let page: Page;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    const { app, clock, database } = site.service;
    const accounts = app.get(UserAccounts);
    await database.transaction(async (tx) => {
      for (let n = 0; n < people; n++) {
        const loginName = `person${String(n).padStart(3, '0')}`;
        await accounts.create(tx, {
          ...{
            loginName,
            email: `${loginName}@example.com`,
            nickname: n % 10 === 0 ? `Anna Müller ${n}` : `Bob Smith ${n}`,
          },
          ...{
            passwordHash: null,
            temporary: false,
            status: 1,
            mfaType: 'email',
            provider: 'password',
            isAdmin: false,
          },
          ...{ tenantId: 'root', orgUnitId: null, createdAt: new Date(clock.now().getTime() - n * 60_000) },
        });
      }
    });
    page = await site.signIn(await site.newUser({ isAdmin: true }));
    await page.goto('/admin#/users');
    await rows(page).first().waitFor();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const rows = (of: Page) => of.locator('tbody tr');
  const heading = (of: Page, name: string) => of.getByRole('columnheader', { name });
  const shows = (of: Page, text: string) => of.locator('.note.total', { hasText: text }).waitFor();

  it('a word of the nickname finds people, with the total', async () => {
    await shows(page, 'Shown: 50 of 131');
    await page.getByRole('searchbox').fill('muller anna');
    await shows(page, 'Shown: 13 of 13');
    await page.waitForURL('**/admin#/users?query=muller+anna');
    await page.getByRole('searchbox').fill('');
    await shows(page, 'Shown: 50 of 131');
  });

  it('a click on a heading sorts, and the address and screen readers know the order', async () => {
    await heading(page, 'User').getByRole('button').click();
    await page.waitForURL('**/admin#/users?sort=login_name');
    await becomes(() => heading(page, 'User').getAttribute('aria-sort'), 'ascending');
    await page.locator('.row-link', { hasText: 'Anna Müller 0' }).waitFor();
    await heading(page, 'User').getByRole('button').press('Enter');
    await page.locator('.row-link', { hasText: 'Bob Smith 129' }).waitFor();
    await becomes(() => heading(page, 'User').getAttribute('aria-sort'), 'descending');
    await becomes(() => heading(page, 'Last sign-in').getAttribute('aria-sort'), 'none');
    expect(await accessibilityViolations(page)).toEqual([]);
  });

  it('the columns are chosen with the keyboard, and the browser remembers them', async () => {
    await page.locator('summary', { hasText: 'Columns' }).press('Enter');
    await page.getByRole('checkbox', { name: 'Created' }).press('Space');
    await page.getByRole('checkbox', { name: 'Status' }).press('Space');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole('checkbox', { name: 'Status' }).press('Escape');
    await becomes(() => page.locator('.column-choice').getAttribute('open'), null);
    await page.reload();
    await heading(page, 'Created').waitFor();
    await heading(page, 'Status').waitFor({ state: 'detached' });
  });
});
