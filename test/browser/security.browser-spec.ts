import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { password } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { goodPassword } from '../support/reset';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

describe('the owner of an account', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const signedIn = async (name: string, section: Parameters<ReturnType<typeof on>['section']>[0]): Promise<Page> => {
    const page = await site.signIn(name, { userAgent: firefox });
    await on(page).section(section);
    return page;
  };
  const onPhone = (name: string): Promise<Page> => site.signIn(name, { userAgent: iphone });
  const card = (page: Page, name: string) => page.getByRole('region', { name });
  const sessions = (page: Page) => card(page, 'Where you are signed in');
  /** A card that was still loading may have told it before the page is loaded again, so the message is not waited for. */
  const ended = async (page: Page): Promise<void> => {
    await page.reload();
    await on(page).heading('Sign in').waitFor();
  };
  const changePassword = async (page: Page, current: string, next: string): Promise<void> => {
    await on(page).field('Current password').fill(current);
    await on(page).field('New password').fill(next);
    await on(page).field('Repeat the new password').fill(next);
    await on(page).button('Save password').click();
  };

  it('changes the password and stays signed in, while every other browser is signed out', async () => {
    const name = await site.newUser();
    const other = await onPhone(name);
    const page = await signedIn(name, 'Security');
    await on(page).button('Change password').click();
    await changePassword(page, 'Wrong-Horse-7', goodPassword(1));
    await page.getByText('This is not your current password.').waitFor();
    await page.locator('input[name=current-password]:focus').waitFor();
    await changePassword(page, password, goodPassword(1));
    await page.getByText('Your password has been changed.').waitFor();
    await page.locator('h2#password:focus').waitFor();
    await page.reload();
    await on(page).section('Devices');
    await sessions(page).getByText('You are signed in nowhere else.').waitFor();
    await ended(other);
    await on(other).logIn(name, goodPassword(1));
    await on(other).heading(`Hello, ${name}`).waitFor();
  });

  it('sees the devices by their names, and ends the session of one of them for real', async () => {
    const name = await site.newUser();
    const other = await onPhone(name);
    const page = await signedIn(name, 'Devices');
    const entries = sessions(page).locator('.entry-name');
    await entries.nth(1).waitFor();
    await becomes(() => entries.allTextContents(), ['Firefox on WindowsThis browser', 'Safari on iOS']);
    await on(page).button('Sign out: Safari on iOS').click();
    await sessions(page).getByText('That device is signed out.').waitFor();
    await page.locator('h2#sessions:focus').waitFor();
    await becomes(() => entries.allTextContents(), ['Firefox on WindowsThis browser']);
    await ended(other);
    await page.reload();
    await on(page).heading('Devices').waitFor();
  });

  it('keeps the focus on the button whose request was refused', async () => {
    const name = await site.newUser();
    await onPhone(name);
    const page = await signedIn(name, 'Devices');
    await page.route('**/user/sessions{,/*}', (route) =>
      route.request().method() === 'DELETE' ? route.fulfill({ status: 429, json: {} }) : route.continue(),
    );
    for (const [n, button] of ['Sign out: Safari on iOS', 'Sign out everywhere else'].entries()) {
      await on(page).button(button).focus();
      await page.keyboard.press('Enter');
      await on(page).alert().nth(n).waitFor();
      await page.getByRole('button', { name: button, disabled: false }).and(page.locator(':focus')).waitFor();
    }
  });

  it('signs out everywhere else', async () => {
    const name = await site.newUser();
    const others = [await signedIn(name, 'Security'), await onPhone(name)];
    const page = await signedIn(name, 'Devices');
    await on(page).button('Sign out everywhere else').click();
    await page.getByText('You are signed out everywhere else. Devices: 2.').waitFor();
    for (const other of others) await ended(other);
    await page.reload();
    await sessions(page).getByText('You are signed in nowhere else.').waitFor();
  });

  it('sees the last logins, also the refused ones', async () => {
    const name = await site.newUser();
    const page = await site.visitor({ userAgent: firefox });
    await page.goto('/');
    await on(page).logIn(name, 'Wrong-Horse-7');
    await on(page).alert().waitFor();
    await on(page).logIn(name);
    await on(page).section('Activity');
    const entries = card(page, 'Last sign-ins').locator('.entry-name');
    await entries.nth(1).waitFor();
    await becomes(
      () => entries.allTextContents(),
      ['Firefox on WindowsSuccessful', 'Firefox on WindowsWrong password'],
    );
  });

  it('sees recovery codes once, and can copy, save and print them', async () => {
    const page = await signedIn(await site.newUser(), 'Security');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(`window.print = () => { window.printed = document.documentElement.dataset.print; }`);
    await on(page).button('Make recovery codes').click();
    const shown = page.locator('.codes code');
    await shown.nth(9).waitFor();
    const codes = await shown.allTextContents();
    expect(new Set(codes).size).toBe(10);

    await on(page).button('Copy').click();
    await on(page).button('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(codes.join('\n'));
    const download = page.waitForEvent('download');
    await on(page).button('Download').click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('recovery-codes.txt');
    expect(readFileSync(await file.path(), 'utf8').split('\r\n')).toEqual(expect.arrayContaining(codes));
    await on(page).button('Print').click();
    await becomes(() => page.evaluate('window.printed'), 'codes');
    await page.emulateMedia({ media: 'print' });
    await on(page).heading('Security').waitFor({ state: 'hidden' });
    await shown.first().waitFor();
    await page.emulateMedia({ media: 'screen' });
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`);

    await on(page).button('I have saved them').click();
    await page.getByText('Recovery codes left: 10.').waitFor();
    const kept = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    expect(codes.filter((code) => kept.includes(code) || kept.includes(code.replace('-', '')))).toEqual([]);
    await page.reload();
    await page.getByText('Recovery codes left: 10.').waitFor();
    expect(await shown.count()).toBe(0);
  });

  it('is asked before new recovery codes replace codes that still work', async () => {
    const page = await signedIn(await site.newUser(), 'Security');
    await on(page).button('Make recovery codes').click();
    const first = await page.locator('.codes code').first().textContent();
    await on(page).button('I have saved them').click();
    await on(page).button('Make new codes').click();
    await page.getByText('Recovery codes that then stop working: 10.').waitFor();
    await on(page).button('Cancel').click();
    await on(page).button('Make new codes').click();
    await on(page).button('Make new codes').click();
    expect(await page.locator('.codes code').first().textContent()).not.toBe(first);
  });

  it('is warned when few recovery codes are left', async () => {
    const name = await site.newUser();
    const page = await signedIn(name, 'Security');
    await on(page).button('Make recovery codes').click();
    await on(page).button('I have saved them').click();
    await page.getByText('Recovery codes left: 10.').waitFor();
    expect(await page.locator('.message.warning').count()).toBe(0);
    const own = '(SELECT uid FROM users WHERE login_name = ?)';
    await site.service.database.affected(
      `UPDATE recovery_codes SET used_at = created_at
       WHERE user_id = ${own} AND id NOT IN (SELECT id FROM recovery_codes WHERE user_id = ${own} LIMIT 3)`,
      [name, name],
    );
    await page.reload();
    await page.locator('.message.warning', { hasText: 'Recovery codes left: 3.' }).waitFor();
  });

  it('confirms in place who they are when recovery codes need a fresh login', async () => {
    const name = await site.newUser();
    const page = await signedIn(name, 'Security');
    site.service.clock.advanceSeconds(600);
    await on(page).button('Make recovery codes').click();
    await on(page).confirmPassword();
    await page.locator('.codes code').nth(9).waitFor();
  });

  it('sees which card did not load, can use the others, and can try again', async () => {
    const page = await signedIn(await site.newUser(), 'Security');
    const codes = card(page, 'Recovery codes');
    // Otherwise the first request of this card can fail as well, and is one complaint more.
    await codes.getByText('You have no recovery codes.').waitFor();
    await page.route('**/recovery-codes', (route) => route.abort());
    await page.reload();
    await codes.getByText('The service is not responding.').waitFor();
    await on(page).button('Change password').click();
    await on(page).field('Current password').waitFor();
    await page.unroute('**/recovery-codes');
    await codes.getByRole('button', { name: 'Try again' }).click();
    await codes.getByText('You have no recovery codes.').waitFor();
    expect(site.takeComplaints()).toEqual([expect.stringContaining('net::ERR_FAILED')]);
  });

  it('sees no trusted devices where the service trusts none', async () => {
    const page = await signedIn(await site.newUser(), 'Devices');
    await sessions(page).getByText('This browser').waitFor();
    expect(await card(page, 'Trusted devices').count()).toBe(0);
  });
});
