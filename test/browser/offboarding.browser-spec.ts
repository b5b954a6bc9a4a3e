import { readFile } from 'node:fs/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { tokenOf } from '../support/admin';
import { givenApplication, signIn } from '../support/applications/application-rows';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { look, overflow, resize, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { openIdSettings } from '../support/openid';

const action = (page: Page, label: string) => page.getByRole('button', { name: new RegExp(`: ${label}$`) });
const confirm = (page: Page, label: string) => page.getByRole('dialog').getByRole('button', { name: label }).click();

describe('a user who leaves, in the administration console', () => {
  let site: PortalSite;
  let root: ReturnType<BrowserContext['storageState']>;
  let uid: string;
  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...openIdSettings, ...copiedSessions });
    await seedInstallation(site.service);
    const user = await site.service.givenUser('lena.leaver', { nickname: 'Lena Leaver', password: null });
    uid = user.uid;
    const access = await tokenOf(site.service, user, null);
    for (const [name, uri] of [
      ['Grafana', 'https://grafana.example.com/logout'],
      ['Intranet', null],
    ] as const) {
      await signIn(site.service, access, await givenApplication(site.service, name, uri));
    }
    const page = await site.visitor();
    await page.goto('/admin');
    await on(page).logIn(await site.newUser({ isAdmin: true, nickname: 'Olivia Root' }));
    await on(page).heading('Overview').waitFor();
    root = page.context().storageState();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  it('is off-boarded by one button, and the receipt shows who has not answered until all have', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto(`/admin#/users/${uid}`);
    await on(page).heading('Lena Leaver').waitFor();
    await action(page, 'Off-board user').click();
    await page.getByText('Sessions that end now: 1.').waitFor();
    await look(page, 'offboard-dialog');
    await confirm(page, 'Off-board user');
    await on(page).heading('Off-boarding receipt').waitFor();
    await page.getByText('Open: 1 not answered yet').waitFor();
    await look(page, 'offboarding-open');
    const { database, clock } = site.service;
    clock.advanceSeconds(3.2);
    await database.affected(
      "UPDATE application_logouts SET status = 1, attempts = 1, answer = 'status 200', settled_at = ? WHERE user_id = ? AND status = 0",
      [clock.now(), uid],
    );
    // The page looks again by itself.
    await page.getByText(/Complete after 3\.\d+ s/).waitFor();
    await look(page, 'offboarding-complete');
    await page.emulateMedia({ media: 'print' });
    await becomes(() => page.getByRole('navigation').count(), 0);
    await takePicture(page, 'offboarding-print');
    await page.emulateMedia({ media: null });
    for (const [language, title] of [
      ['de', 'Beleg des Austritts'],
      ['zh-CN', '离职回执'],
    ] as const) {
      const other = await site.visitor({ storageState: await root, locale: language });
      await other.goto(`/admin#/users/${uid}/offboarding`);
      await on(other).heading(title).waitFor();
      await resize(other, { ...sizes.phone, width: 380 });
      expect([language, await overflow(other)]).toEqual([language, 0]);
      await takePicture(other, `offboarding-phone-${language}`);
    }
  });

  it('what is stored about a user is downloaded as a file', async () => {
    const page = await site.visitor({ storageState: await root });
    await page.goto(`/admin#/users/${uid}`);
    await on(page).heading('Lena Leaver').waitFor();
    await action(page, 'Export the data').click();
    const [download] = await Promise.all([page.waitForEvent('download'), confirm(page, 'Export the data')]);
    expect(download.suggestedFilename()).toBe(`user-${uid}.json`);
    const stored = JSON.parse(await readFile(await download.path(), 'utf8')) as Record<string, unknown>;
    expect(stored).toMatchObject({ uid, account: [{ login_name: 'lena.leaver' }] });
    await page.getByText('The file was downloaded.').waitFor();
  });
});
