import type { BrowserContext } from 'playwright-core';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { givenDeviceRow } from '../support/admin';
import { look } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';

/** docs/spec/extensions.md#bulk, as an administrator uses it. */
describe('many users at once in the administration console', () => {
  let site: PortalSite;
  let root: ReturnType<BrowserContext['storageState']>;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions, MFA_TRUSTED_DEVICE_DAYS: '30' });
    for (let n = 10; n < 70; n++) await site.service.givenUser(`team-${n}`, { nickname: `Team ${n}`, password: null });
    const page = await site.visitor();
    await page.goto('/admin');
    await on(page).logIn(await site.newUser({ isAdmin: true, nickname: 'Olivia Root' }));
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const disabled = () => site.service.count('users', "login_name LIKE 'team-%' AND status = -1");

  it('everything that a filter finds is selected, disabled after a confirmation, and undone', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/users?query=team-');
    await page.getByRole('checkbox', { name: 'Select team-10' }).focus();
    await page.keyboard.press('Space');
    await page.getByText('Selected: 1').waitFor();
    await on(page).button('Select everything that this filter finds').click();
    await page.getByText('Selected: 60').waitFor();
    await look(page, 'bulk-selected');
    await on(page).button('Disable').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Disable 60 users?' }).waitFor();
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByText('All 60 are done.').waitFor();
    expect(await disabled()).toBe(60);
    await dialog.getByRole('button', { name: 'Undo for 60' }).click();
    await dialog.getByRole('heading', { name: 'Undo' }).waitFor();
    await dialog.getByText('All 60 are done.').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await disabled()).toBe(0);
    await page.getByText(/^Selected:/).waitFor({ state: 'detached' });
  });

  it('a refused user is named with the reason in words', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/users?query=Olivia');
    await page.getByRole('checkbox').check();
    await on(page).button('Disable').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Disable' }).click();
    await dialog.getByText('This would lock you out, or leave no administrator.').waitFor();
    await look(page, 'bulk-refused');
  });

  it('a file is checked first, then imported, and the refused rows are a file', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto('/admin#/users');
    await page.getByRole('link', { name: 'Import' }).click();
    await on(page).heading('Import users').waitFor();
    const file =
      'login_name;nickname;email;role\nimported-1;Ida;ida@example.com;\nteam-10;Again;;\nimported-2;"Müller; Max";;auditor\n';
    const input = page.getByLabel('CSV file in UTF-8');
    await input.setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) });
    await on(page).button('Check the file').click();
    await page.getByText('Rows: 3. New users: 2. Refused: 1.').waitFor();
    expect(await site.service.count('users', "login_name LIKE 'imported-%'")).toBe(0);
    const rows = async (caption: string) =>
      (await page.getByRole('table', { name: caption }).getByRole('row').allInnerTexts()).map((row) =>
        row.trim().split(/\s*\t\s*|\n+/),
      );
    await becomes(
      async () => (await rows('New users')).slice(1),
      [
        ['2', 'imported-1', 'ida@example.com', 'root'],
        ['4', 'imported-2', 'root', 'Auditor'],
      ],
    );
    await becomes(
      async () => (await rows('Refused rows')).slice(1),
      [['3', expect.stringContaining('exists already')]],
    );
    await look(page, 'import-preview');
    const download = page.waitForEvent('download');
    await on(page).button('Save the list of refused rows').click();
    expect((await download).suggestedFilename()).toBe('refused-rows.csv');
    await on(page).button('Import 2 users').click();
    await page.getByText('New users: 2. Refused rows: 1.').waitFor();
    expect(await site.service.count('users', "login_name LIKE 'imported-%'")).toBe(2);
  });

  it('one session and one device of a user are ended', async () => {
    const { uid } = await site.service.givenUser('ida.two', { nickname: 'Ida Two' });
    await site.service.session('ida.two');
    await site.service.session('ida.two');
    await givenDeviceRow(site.service, uid);
    const page = await site.visitor({ storageState: await root });
    await page.goto(`/admin#/users/${uid}`);
    const ends = page.getByRole('button', { name: /^End:/ });
    await ends.first().waitFor();
    await becomes(() => ends.count(), 2);
    await look(page, 'user-places');
    await ends.first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await page.getByText('The session has ended.').waitFor();
    await page.getByRole('button', { name: /^Remove:/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The device is no longer trusted.').waitFor();
    expect(await site.service.count('trusted_devices', 'user_id = ? AND ended_at IS NULL', [uid])).toBe(0);
  });
});
