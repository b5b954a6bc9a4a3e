import type { BrowserContext } from 'playwright-core';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { givenGroup } from '../support/groups';

/** docs/spec/extensions.md#l, as an administrator uses it. */
describe('groups in the administration console', () => {
  let site: PortalSite;
  let root: ReturnType<BrowserContext['storageState']>;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    await seedInstallation(site.service);
    await site.service.givenUser('gina.group', { nickname: 'Gina Group' });
    const page = await site.visitor();
    await page.goto('/admin');
    await on(page).logIn(await site.newUser({ isAdmin: true, nickname: 'Olivia Root' }));
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  it('one is made and filled with the keyboard alone, shown on the page of its member, and deleted', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/groups');
    await page.getByText('There are no groups yet').waitFor();
    await look(page, 'groups-empty');
    await on(page).button('New group').focus();
    await page.keyboard.press('Enter');
    await page.locator('input:focus').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Enter a name.').waitFor();
    await page.keyboard.type('Field Sales');
    await page.keyboard.press('Enter');
    await on(page).heading('Field Sales').waitFor();
    await look(page, 'group-empty');
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('gina.group');
    const add = on(page).button('Add Gina Group');
    await add.waitFor();
    await look(page, 'group-found');
    await add.focus();
    await page.keyboard.press('Enter');
    const member = page.getByRole('link', { name: 'Gina Group' });
    await member.waitFor();
    // The next name can be typed at once.
    await page.locator('input[type=search]:focus').waitFor();
    await look(page, 'group');
    await member.click();
    await on(page).heading('Gina Group').waitFor();
    await page.getByRole('link', { name: 'Field Sales' }).waitFor();
    await look(page, 'user-groups');
    await page.getByRole('link', { name: 'Field Sales' }).click();
    await on(page).button('Delete group').click();
    await look(page, 'group-delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete group' }).click();
    await on(page).button('To the groups').waitFor();
    expect(await site.service.count('user_group_members', '1 = 1')).toBe(0);
  });

  it('one of another source says who owns it, and offers no change', async () => {
    const scim = await givenGroup(site.service, `Directory ${'of everybody '.repeat(12)}`, { source: 'scim' });
    await givenGroup(site.service, 'Berlin', { source: 'directory', tenantId: 'acme' });
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/groups');
    await page.getByRole('link', { name: 'Berlin' }).waitFor();
    await look(page, 'groups');
    await page.goto(`/admin#/groups/${scim}`);
    await page.getByText('SCIM').first().waitFor();
    await look(page, 'group-of-scim');
    expect(await page.locator('main').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('searchbox').count()).toBe(0);
  });

  it('the page of a user shows ten of them, and the others on request', async () => {
    const { uid } = await site.service.givenUser('many.groups', { nickname: 'Many Groups' });
    for (let n = 10; n < 22; n++) await givenGroup(site.service, `Team ${n}`, { members: [uid] });
    const page = await site.visitor({ storageState: await root });
    await page.goto(`/admin#/users/${uid}`);
    await page.getByRole('link', { name: 'Team 19' }).waitFor();
    expect(await page.getByRole('link', { name: 'Team 20' }).isVisible()).toBe(false);
    await page.getByText('and 2 more').click();
    await page.getByRole('link', { name: 'Team 21' }).waitFor();
  });
});
