import type { Page } from 'playwright-core';
import { adminSettings, copiedSessions, seedInstallation } from '../support/browser/admin-data';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, look, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { eventually } from '../support/servers/eventually';

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
  );
const whenFocused = (page: Page, text: string): Promise<unknown> =>
  eventually(async () => (await focused(page)) === text, { what: `the focus on "${text}"` });
const palette = (page: Page) => page.getByRole('dialog', { name: 'Find people, pages and actions' });
const field = (page: Page) => palette(page).getByRole('combobox');
const toast = (page: Page, text: string) => page.locator('.toast', { hasText: text });
/** What screen readers are told about results. */
const said = (page: Page) => page.getByRole('region', { name: 'Messages' }).getByRole('status');

describe('the console by keyboard', () => {
  let site: PortalSite;
  let page: Page;
  let uids: Map<string, string>;

  beforeAll(async () => {
    site = await PortalSite.start({ ...adminSettings, ...copiedSessions });
    await seedInstallation(site.service);
    const rows = await site.service.database.rows<{ uid: string; login_name: string }>(
      'SELECT uid, login_name FROM users',
    );
    uids = new Map(rows.map(({ uid, login_name }) => [login_name, uid]));
    await site.newUser({ nickname: 'Zoë Okonkwo' });
    page = await site.signIn(await site.newUser({ isAdmin: true }));
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const userPage = (name: string): string => `#/users/${uids.get(name)!}`;
  const opened = async (where: string, heading: string): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`/admin${where}`);
    await on(page).heading(heading).waitFor();
  };

  describe('the palette', () => {
    it('finds a person by half of a surname, leads there, and remembers where the administrator was', async () => {
      await opened('#/settings/mail', 'Mail server');
      await page.keyboard.press('Control+k');
      await field(page).pressSequentially('okon');
      await palette(page)
        .getByRole('option', { name: /^Zoë Okonkwo/ })
        .waitFor();
      // Answers to the first letters may have come before.
      const selected = palette(page).locator('[aria-selected=true]');
      await selected.filter({ hasText: 'Zoë Okonkwo' }).waitFor();
      await becomes(() => field(page).getAttribute('aria-activedescendant'), await selected.getAttribute('id'));
      await page.keyboard.press('Enter');
      await on(page).heading('Zoë Okonkwo').waitFor();
      await whenFocused(page, 'Zoë Okonkwo');

      await page.keyboard.press('Control+k');
      const first = palette(page).getByRole('group', { name: 'Recent' }).getByRole('option').first();
      await becomes(() => first.textContent(), 'Mail server');
      await look(page, 'palette');
      await page.keyboard.press('Enter');
      await on(page).heading('Mail server').waitFor();
    });

    it('gives the focus back, also on a phone by its button, and says when nothing is found', async () => {
      await opened('#/users', 'Users');
      await page.getByRole('searchbox').focus();
      await page.keyboard.press('Control+k');
      await field(page).pressSequentially('zzz');
      await palette(page).getByRole('status').filter({ hasText: 'Nothing found.' }).waitFor();
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      await page.locator('input[type=search]:focus').waitFor();
      await page.setViewportSize({ width: 380, height: 667 });
      await on(page).button('Find…').click();
      await palette(page).getByRole('option', { name: 'Audit log' }).click();
      await on(page).heading('Audit log').waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
    });

    it('opens the confirmation of a button of the page, which a toast takes back by keyboard', async () => {
      await opened(userPage('hana.costa'), 'Hana Costa');
      await page.locator('.action-list').first().waitFor();
      await page.keyboard.press('Control+k');
      await field(page).pressSequentially('disable us');
      await palette(page).locator('[aria-selected=true]', { hasText: 'Disable user' }).waitFor();
      await page.keyboard.press('Enter');
      const question = page.getByRole('dialog', { name: /^Disable/ });
      await question.getByRole('button', { name: 'Disable user', exact: true }).press('Enter');
      await toast(page, 'The user is disabled.').waitFor();
      await page.getByRole('button', { name: /: Enable user$/ }).waitFor();
      await becomes(() => said(page).innerText(), expect.stringMatching(/^The user is disabled.\s+Undo$/));
      await look(page, 'toast');

      await page.keyboard.press('F8');
      await whenFocused(page, 'Undo');
      expect(await accessibilityViolations(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await toast(page, 'The user is enabled.').waitFor();
      await page.getByRole('button', { name: /: Disable user$/ }).waitFor();
    });
  });

  it('the focus of a button that a change has replaced moves to the heading of its card', async () => {
    await opened(userPage('greta.costa'), 'Greta Costa');
    await page.getByRole('button', { name: /: Disable user$/ }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Disable user', exact: true }).press('Enter');
    await page.getByRole('button', { name: /: Enable user$/ }).waitFor();
    await whenFocused(page, 'Danger zone');
    await toast(page, 'The user is disabled.').getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: /: Disable user$/ }).waitFor();
  });

  it('a toast goes by itself, but not with the focus in it; a refused undo stays', async () => {
    const other = await site.signIn(await site.newUser({ isAdmin: true }));
    await other.clock.install();
    await other.goto(`/admin${userPage('ivan.costa')}`);
    const disable = async () => {
      await other.getByRole('button', { name: /: Disable user$/ }).click();
      await other.getByRole('dialog').getByRole('button', { name: 'Disable user', exact: true }).click();
      await other.getByRole('button', { name: /: Enable user$/ }).waitFor();
    };
    await disable();
    await other.keyboard.press('F8');
    await whenFocused(other, 'Undo');
    await other.clock.fastForward(60_000);
    expect(await toast(other, 'The user is disabled.').count()).toBe(1);
    await other.route('**/admin/users/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { error_code: 'ADMIN_409001', error_message: 'no' } })
        : route.continue(),
    );
    await other.keyboard.press('Enter');
    await other.locator('.toast.bad').waitFor();
    await other.clock.fastForward(60_000);
    expect(await other.locator('.toast').count()).toBe(1);
    await other.keyboard.press('F8');
    await other.locator('.toast :focus').waitFor();
    await other.keyboard.press('Escape');
    await other.locator('.toast').waitFor({ state: 'detached' });
    await other.unroute('**/admin/users/*');
    await other.getByRole('button', { name: /: Enable user$/ }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Enable user', exact: true }).click();
    await toast(other, 'The user is enabled.').waitFor();
    await other.mouse.move(0, 0);
    await other.clock.fastForward(60_000);
    await toast(other, 'The user is enabled.').waitFor({ state: 'detached' });
  });

  it('leads through a list, selects and opens by keys, which a field keeps for itself and a switch turns off', async () => {
    await opened('#/users?tenant_id=acme&sort=login_name', 'Users');
    await page.locator('.row-link').first().waitFor();
    const names = await page.locator('.row-link').allTextContents();
    await page.keyboard.press('Control+k');
    await field(page).waitFor();
    await page.keyboard.type('/?j');
    await becomes(() => field(page).inputValue(), '/?j');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.locator('input[type=search]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await whenFocused(page, names[0]!);
    await page.keyboard.press('j');
    await whenFocused(page, names[1]!);
    await page.keyboard.press('Space');
    await becomes(() => page.locator('.check input:checked').count(), 1);
    await page.keyboard.press('End');
    await whenFocused(page, names.at(-1)!);
    await page.keyboard.press('k');
    await whenFocused(page, names.at(-2)!);

    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await keys.waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await takePicture(page, 'keys');
    await keys.getByRole('checkbox').press('Space');
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await whenFocused(page, names.at(-2)!);
    await page.keyboard.press('k');
    await page.keyboard.press('?');
    expect(await focused(page)).toBe(names.at(-2));
    await page.keyboard.press('ArrowUp');
    await whenFocused(page, names.at(-3)!);
    await page.keyboard.press('Enter');
    await on(page).heading(names.at(-3)!).waitFor();
    await page.evaluate("localStorage.removeItem('portal.single-keys')");
  });

  describe('what was typed', () => {
    const edited = async (of: Page, name: string, heading: string): Promise<void> => {
      await of.goto('about:blank');
      await of.goto(`/admin${userPage(name)}`);
      await on(of).heading(heading).waitFor();
      await on(of).button('Edit').click();
      await on(of).field('Name').fill('Typed Here');
    };

    it('is there again for the same administrator after the session has ended', async () => {
      const name = await site.newUser({ isAdmin: true });
      const other = await site.signIn(name);
      await edited(other, 'farid.costa', 'Farid Costa');
      await site.service.database.affected(
        'UPDATE login_tokens SET is_revoked = 1 WHERE user_identity = (SELECT uid FROM users WHERE login_name = ?)',
        [name],
      );
      await on(other).button('Save').click();
      await other.getByText('Your session has ended. Please sign in again.').waitFor();
      await becomes(
        () => other.evaluate<string | null>("sessionStorage.getItem('portal.drafts')"),
        expect.stringContaining('"nickname":"Typed Here"'),
      );
      await on(other).logIn(name);
      await on(other).heading('Farid Costa').waitFor();
      await toast(other, 'is here again').waitFor();
      await becomes(() => on(other).field('Name').inputValue(), 'Typed Here');
      await becomes(() => other.evaluate<string | null>("sessionStorage.getItem('portal.drafts')"), null);
      await on(other).button('Save').click();
      await on(other).heading('Typed Here').waitFor();
    });

    it('stays when somebody else has saved the same field meanwhile, and both values are shown', async () => {
      await edited(page, 'elif.costa', 'Elif Costa');
      await site.service.database.affected('UPDATE users SET nickname = ? WHERE login_name = ?', [
        'Saved There',
        'elif.costa',
      ]);
      await on(page).button('Save').click();
      const clash = page.locator('.message.warning', { hasText: 'Somebody else has saved this meanwhile.' });
      await clash.waitFor();
      await becomes(() => clash.locator('dd').allTextContents(), ['Saved There', 'Typed Here']);
      await becomes(() => on(page).field('Name').inputValue(), 'Typed Here');
      await look(page, 'clash');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await on(page).heading('Typed Here').waitFor();
    });
  });

  it('Back shows as many rows as before, where the list was left', async () => {
    await opened('#/users?sort=login_name', 'Users');
    await page.locator('.row-link').nth(49).waitFor();
    await on(page).button('Show more').click();
    await page.locator('.row-link').nth(99).waitFor();
    const row = page.locator('.row-link').nth(80);
    const name = await row.textContent();
    await row.scrollIntoViewIfNeeded();
    await eventually(() => page.evaluate<boolean>('history.state?.top === scrollY && scrollY > 0'), {
      what: 'the position',
    });
    const top = await page.evaluate<number>('scrollY');
    await row.click();
    await on(page).heading(name!).waitFor();
    await page.goBack();
    await page.locator('.row-link').nth(99).waitFor();
    await eventually(async () => (await page.evaluate<number>('scrollY')) === top, { what: 'the former position' });
    await becomes(() => page.locator('.row-link').count(), 100);
  });
});
