import type { Locator, Page } from 'playwright-core';
import { adminSettings, copiedSessions } from '../support/browser/admin-data';
import { on, PortalSite } from '../support/browser/portal-site';
import { password } from '../support/app';

const leavers = 12;

/** Works as a person with a mouse and a keyboard does, and counts. */
class Hand {
  clicks = 0;
  keys = 0;

  constructor(private readonly page: Page) {}

  async click(target: Locator): Promise<void> {
    this.clicks++;
    await target.click();
  }

  async type(text: string): Promise<void> {
    this.keys += [...text].length;
    await this.page.keyboard.type(text);
  }

  /** Keys that are held together count once. */
  async press(key: string): Promise<void> {
    this.keys++;
    await this.page.keyboard.press(key);
  }

  get effort(): readonly [clicks: number, keys: number] {
    return [this.clicks, this.keys];
  }
}

/** docs/operations/administration.md#six-tasks has the same numbers. Each task begins on the overview. */
describe('six tasks of an administrator need no more clicks and keys than the documentation says', () => {
  let site: PortalSite;
  let page: Page;
  let hand: Hand;
  let jonas: string;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    const { service } = site;
    // The login name says nothing about the surname.
    jonas = (await service.givenUser('jm4711', { nickname: 'Jonas Müller' })).uid;
    for (let n = 1; n <= leavers; n++) await service.givenUser(`temp-${n}`, { nickname: `Temporary worker ${n}` });
    await service.givenUser('ada', { nickname: 'Ada Admin', isAdmin: true });
    const other = await site.signIn('ada');
    await other.goto('/admin#/settings/password');
    await on(other).field('Characters at least').fill('14');
    await on(other).button('Save policy').click();
    await other.locator('.toast').waitFor();
    await other.context().close();
    page = await site.signIn(await site.newUser({ isAdmin: true }));
  });
  afterAll(() => site.stop());

  beforeEach(async () => {
    // Another address, because the same one would not load the page again.
    // The service remembers an overview for ten seconds.
    site.service.clock.advanceSeconds(11);
    await page.goto('about:blank');
    await page.goto('/admin#/');
    await page.getByRole('img', { name: /^Bar chart/ }).waitFor();
    hand = new Hand(page);
  });
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  /** The page of a person of whom half the surname is known. */
  const find = async (): Promise<void> => {
    await hand.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').waitFor();
    await hand.type('mül');
    // An answer to the first letters can select somebody else.
    await page.getByRole('option', { name: 'Jonas Müller', selected: true }).waitFor();
    await hand.press('Enter');
    await on(page).heading('Jonas Müller').waitFor();
  };
  const act = async (label: RegExp): Promise<void> => {
    await hand.click(page.locator('.action-list').getByRole('button', { name: label }));
    await hand.click(page.getByRole('dialog').locator('button.primary'));
  };

  // Before the others: the overview shows the last six changes.
  it('sees who changed the password policy: no click and no key', async () => {
    await page.locator('.changes li', { hasText: 'Ada Admin' }).first().waitFor();
    expect(hand.effort).toEqual([0, 0]);
  });

  it('finds a person by half a surname: no click and 5 keys', async () => {
    await find();
    expect(hand.effort).toEqual([0, 5]);
  });

  it('sees why the person cannot sign in: no click and 5 keys', async () => {
    for (let n = 0; n < 6; n++) await site.service.login('jm4711', `${password}x`);
    await find();
    await page.locator('.page-line .badge', { hasText: 'Locked' }).waitFor();
    await page.locator('td', { hasText: 'Wrong password' }).first().waitFor();
    expect(hand.effort).toEqual([0, 5]);
  });

  it('unlocks the person: 2 clicks and 5 keys', async () => {
    await find();
    await act(/: Unlock account$/);
    await page.locator('.toast').waitFor();
    expect((await site.service.userRow(jonas)).login_failed_count).toBe(0);
    expect(hand.effort).toEqual([2, 5]);
  });

  it('helps after a lost phone: 2 clicks and 5 keys', async () => {
    await find();
    await act(/: Reset second factor$/);
    await page.getByText('The second factor is reset.').waitFor();
    expect(hand.effort).toEqual([2, 5]);
  });

  it('dismisses twelve people at once: 6 clicks and 6 keys', async () => {
    await hand.click(on(page).link('Users'));
    await on(page).heading('Users').waitFor();
    await hand.press('/');
    await hand.type('temp-');
    await page.locator('.note.total', { hasText: `Shown: ${leavers} of ${leavers}` }).waitFor();
    await hand.click(page.getByRole('checkbox', { name: /^Select/ }).first());
    await hand.click(on(page).button(`Select all ${leavers} shown`));
    await hand.click(on(page).button('Disable'));
    const dialog = page.getByRole('dialog');
    await hand.click(dialog.getByRole('button', { name: 'Disable' }));
    await dialog.getByText(`All ${leavers} are done.`).waitFor();
    await hand.click(dialog.getByRole('button', { name: 'Close' }));
    expect(await site.service.count('users', "login_name LIKE 'temp-%' AND status = -1")).toBe(leavers);
    expect(hand.effort).toEqual([6, 6]);
  });
});
