import type { Dialog, Page } from 'playwright-core';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { resize, sizes } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { eventually } from '../support/servers/eventually';

const open = (page: Page, place: string): Promise<void> =>
  page.evaluate<undefined>(`void (location.hash = ${JSON.stringify(place)})`);

const loaded = (page: Page): Promise<void> =>
  page.locator('[aria-busy=true], .skeleton').first().waitFor({ state: 'detached' });

/** The look of each element of the page. Sizes depend on the text and are left out. */
const looks = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.console, .console *')].map((element) => {
    const style = getComputedStyle(element);
    const names = ['display', 'position', 'color', 'backgroundColor', 'borderTopColor', 'borderTopWidth', 'borderRadius',
      'paddingTop', 'paddingLeft', 'marginTop', 'marginLeft', 'gap', 'alignItems', 'justifyContent', 'fontSize', 'fontWeight',
      'lineHeight', 'textAlign', 'textDecorationLine', 'cursor', 'flexGrow', 'flexShrink', 'whiteSpace', 'minHeight'];
    return element.tagName + '.' + element.getAttribute('class') + ' ' + names.map((name) => style[name]).join('|');
  })`);

describe('the administration console', () => {
  let site: PortalSite;
  let user: string;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    await seedInstallation(site.service);
    const row = await site.service.database.row<{ uid: string }>(
      "SELECT uid FROM users WHERE login_name = 'hana.costa'",
    );
    user = `#/users/${row!.uid}`;
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const administrator = async (options = {}): Promise<Page> =>
    site.signIn(await site.newUser({ isAdmin: true }), options);

  it('every page looks the same when it is opened directly and when it is reached through the login', async () => {
    const through = await administrator();
    await on(through).link('Administration').click();
    await on(through).heading('Overview').waitFor();
    // The pointer changes the look of what it is on.
    await through.mouse.move(0, 0);
    const directly = await site.visitor({ storageState: await through.context().storageState() });
    const places: readonly (readonly [place: string, heading: string, ready: string])[] = [
      ['#/', 'Overview', 'svg[role=img]'],
      ['#/users', 'Users', '.row-link'],
      ['#/users/new', 'New user', 'form'],
      [user, 'Hana Costa', '.action-list'],
      ['#/logins', 'Sign-ins', 'tbody tr'],
      ['#/audit', 'Audit log', 'tbody tr'],
      ['#/mails', 'Mails', 'tbody tr'],
      ['#/events', 'Events', 'tbody tr'],
      ['#/tenants', 'Tenants', 'tbody tr'],
      ['#/tenants/acme', 'Acme Corporation', 'tbody tr'],
      ['#/settings/password', 'Password policy', 'form'],
      ['#/settings/mail', 'Mail server', 'form'],
      ['#/settings/all', 'All settings', 'tbody tr'],
      ['#/nowhere', 'Page not found', '.empty'],
    ];
    for (const [place, heading, ready] of places) {
      await open(through, place);
      // The same fragment would not load the page again.
      await directly.goto('about:blank');
      await directly.goto(`/admin${place}`);
      for (const page of [through, directly]) {
        await on(page).heading(heading).waitFor();
        await page.locator(ready).first().waitFor();
        await loaded(page);
      }
      // What a page learns after its first data comes to both of them, but not in the same moment.
      const areAlike = async () => {
        expect(await looks(directly)).toEqual(await looks(through));
        return true as const;
      };
      await eventually(areAlike, { what: `${place} to look the same` });
    }
  });

  it('all places and the account fit into a window of 800 pixels, and in a lower one the places scroll', async () => {
    const page = await administrator({ viewport: sizes.desktop });
    await page.goto('/admin#/users');
    await page.locator('.row-link').first().waitFor();
    const below = (selector: string) =>
      page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().bottom - innerHeight`);
    const hidden = () =>
      page.evaluate<number>(
        "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.side nav'))",
      );
    expect(await hidden()).toBe(0);
    expect(await below('.side-choices')).toBeLessThanOrEqual(0);
    await resize(page, { width: 1280, height: 560 });
    expect(await hidden()).toBeGreaterThan(0);
    expect(await below('.side-choices')).toBeLessThanOrEqual(0);
    await on(page).link('All settings').focus();
    await eventually(async () => (await below('.side nav li:last-child a[href$="/all"]')) < 0, {
      what: 'the last place to scroll into view',
    });
    await page.context().close();
  });

  it('opening the console asks for the overview once', async () => {
    const page = await administrator();
    let asked = 0;
    page.on('request', (request) => (request.url().endsWith('/admin/overview') ? asked++ : 0));
    await on(page).link('Administration').click();
    await on(page).heading('Overview').waitFor();
    await page.locator('svg[role=img]').waitFor();
    expect(asked).toBe(1);
    await on(page).button('Refresh').click();
    await eventually(() => asked === 2, { what: 'the overview to be asked for again' });
  });

  it('the message about a change is in view, and the focus is beside the changed button, on a phone as well', async () => {
    const page = await administrator({ viewport: sizes.phone });
    await page.goto(`/admin${user}`);
    await on(page).heading('Hana Costa').waitFor();
    await page.getByRole('button', { name: /: Disable user$/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable user', exact: true }).click();
    const message = page.locator('.toast', { hasText: 'The user is disabled.' });
    await message.waitFor();
    // The answer to the page's own question replaces the button that was pressed.
    await page.getByRole('button', { name: /: Enable user$/ }).waitFor();
    await page.locator('h2:focus', { hasText: 'Danger zone' }).waitFor();
    await becomes(async () => {
      const box = (await message.boundingBox())!;
      return box.y > 0 && box.y + box.height < sizes.phone.height;
    }, true);
  });

  describe('with an edit that is not saved', () => {
    const edited = async (): Promise<{ page: Page; asked: string[]; answer: (leave: boolean) => void }> => {
      const page = await administrator();
      await page.goto(`/admin${user}`);
      await on(page).heading('Hana Costa').waitFor();
      await on(page).button('Edit').click();
      await on(page).field('Name').fill('Hana Unsaved');
      const asked: string[] = [];
      let leave = false;
      page.on('dialog', (question: Dialog) => {
        asked.push(question.type());
        void (leave ? question.accept() : question.dismiss());
      });
      return { page, asked, answer: (next) => (leave = next) };
    };
    const typed = (page: Page): Promise<string> => on(page).field('Name').inputValue();

    it('a link and the account ask first, and the edit stays when the user stays', async () => {
      const { page, asked, answer } = await edited();
      await page.locator('.nav-item[href="#/audit"]').click();
      await page.locator('.side-account').click();
      expect(asked).toEqual(['confirm', 'confirm']);
      await becomes(() => typed(page), 'Hana Unsaved');
      // The page puts its address back after the answer to the question.
      await becomes(() => page.evaluate<string>('location.hash'), user);
      answer(true);
      await page.locator('.nav-item[href="#/audit"]').click();
      await on(page).heading('Audit log').waitFor();
      expect(asked).toHaveLength(3);
    });

    it('the link that skips to the content leaves nothing, so it does not ask', async () => {
      const { page, asked } = await edited();
      await on(page).link('Skip to content').focus();
      await page.keyboard.press('Enter');
      await page.locator('main:focus').waitFor();
      expect(asked).toEqual([]);
      await becomes(() => typed(page), 'Hana Unsaved');
    });

    it('the Back button asks first, inside the console and out of it', async () => {
      const { page, asked, answer } = await edited();
      await page.evaluate('history.back()');
      await eventually(() => asked.length === 1, { what: 'the question about leaving' });
      await becomes(() => typed(page), 'Hana Unsaved');
      // The page puts its address back after the answer to the question.
      await becomes(() => page.evaluate<string>('location.hash'), user);
      answer(true);
      await page.evaluate('history.back()');
      await eventually(() => asked.length === 2, { what: 'the second question' });
    });

    it('a reload asks first, and nothing asks after saving', async () => {
      const { page, asked, answer } = await edited();
      void page.evaluate('location.reload()');
      await eventually(() => asked.length === 1, { what: 'the question of the browser' });
      expect(asked).toEqual(['beforeunload']);
      expect(await typed(page)).toBe('Hana Unsaved');
      answer(true);
      await on(page).field('Name').fill('Hana Costa-Saved');
      await on(page).button('Save').click();
      await on(page).heading('Hana Costa-Saved').waitFor();
      await page.locator('.nav-item[href="#/users"]').click();
      await on(page).heading('Users').waitFor();
      expect(asked).toHaveLength(1);
      await open(page, user);
      await on(page).button('Edit').click();
      await on(page).field('Name').fill('Hana Costa');
      await on(page).button('Save').click();
      await on(page).heading('Hana Costa').waitFor();
    });
  });
});
