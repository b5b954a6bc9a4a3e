import type { Page } from 'playwright-core';
import { create } from 'qrcode';
import { password } from '../support/app';
import { becomes } from '../support/browser/becomes';
import { on, PortalSite } from '../support/browser/portal-site';
import { modulesOf } from '../support/qr-picture';
import { goodPassword, newMails } from '../support/reset';
import { eventually } from '../support/servers/eventually';

/** The modules of the QR code for this text. */
function modulesFor(text: string): string[] {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const all = Array.from({ length: modules.size }, (_, i) => i);
  return all.map((y) => all.map((x) => (modules.get(y, x) ? 1 : 0)).join(''));
}

describe('a user of the pages', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start();
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const open = async (path = '/'): Promise<Page> => {
    const page = await site.visitor();
    await page.goto(path);
    return page;
  };
  const tokensOf = (page: Page): Promise<string | null> =>
    page.evaluate<string | null>(`localStorage.getItem('portal-auth.session')`);

  it('logs in, sees the account, reloads, and logs out', async () => {
    const name = await site.newUser();
    const page = await open();
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
    await page.getByText(`${name}@example.com`).waitFor();
    await page.reload();
    await on(page).heading(`Hello, ${name}`).waitFor();
    const { access } = JSON.parse((await tokensOf(page)) ?? '{}') as { access: string };
    await on(page).signOut();
    await on(page).heading('Sign in').waitFor();
    await becomes(() => tokensOf(page), null);
    await eventually(async () => (await site.service.get('/user/me', { bearer: access })).status === 401, {
      what: 'the token to be refused',
    });
    await page.goto('/account');
    await on(page).heading('Sign in').waitFor();
  });

  it('sees why a login failed, and can try again with a captcha that renews itself', async () => {
    const name = await site.newUser();
    const page = await open();
    await on(page).logIn(name, 'Wrong-Horse-7');
    expect(await on(page).alert().textContent()).toBe('The user name or password is wrong. Check both and try again.');
    await on(page).logIn(name);
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('sees errors in the Chinese words of the page, not in the words of the service', async () => {
    const page = await open('/?lang=zh-CN');
    await page.getByLabel('用户名').fill('nobody');
    await page.getByLabel('密码', { exact: true }).fill(password);
    await page.getByRole('button', { name: '登录' }).click();
    expect(await on(page).alert().textContent()).toBe('用户不存在，请检查用户名。');
  });

  it('is locked out after three wrong passwords', async () => {
    const name = await site.newUser();
    const page = await open();
    for (let i = 0; i < 3; i++) {
      const answer = page.waitForResponse('**/login');
      await on(page).logIn(name, 'Wrong-Horse-7');
      await answer;
      await on(page).button('Sign in').waitFor();
    }
    await on(page).logIn(name);
    await page.getByText('The account is locked').waitFor();
  });

  it('can replace a forgotten password through the mailed link, and then logs in with the new one', async () => {
    const { page, name } = await site.signedIn();
    await page.goto('/forgot-password');
    await on(page).field('E-mail address').fill(`${name}@example.com`);
    await on(page).button('Send link').click();
    await on(page).heading('Check your inbox').waitFor();
    await newMails(site.service);
    await on(page).link('Demo inbox').first().click();
    await page.locator('.mails a').first().click();

    await on(page).heading('Choose a new password').waitFor();
    expect(await tokensOf(page)).not.toBeNull();
    await on(page).field('New password').fill('short');
    const met = () => page.locator('.rules li.met').allTextContents();
    await becomes(met, ['a lower-case letter, met']);
    await page.reload();
    await on(page).field('New password').fill(goodPassword(1));
    await on(page).field('Repeat the new password').fill(goodPassword(1));
    await becomes(async () => (await met()).length, 5);
    const link = page.url();
    await on(page).button('Save password').click();

    await page.getByText('Your password has been changed.').waitFor();
    await becomes(() => page.evaluate('localStorage.length + sessionStorage.length'), 0);
    await on(page).logIn(name, goodPassword(1));
    await on(page).heading(`Hello, ${name}`).waitFor();

    await page.goto(link);
    await on(page).heading('This link does not work').waitFor();
    expect(await on(page).alert().textContent()).toBe('This link has already been used. Request a new one.');
    await on(page).link('Request a new link').click();
    await on(page).heading('Forgot your password?').waitFor();
  });

  it('sees the page of a mailed link in the language of the mail', async () => {
    const page = await open('/reset-password?uid=x&lang=zh-CN');
    await page.getByRole('heading', { name: '链接无效' }).waitFor();
  });

  it.each([
    ['a first password', { temporary: true }, 'Set your password'],
    ['an expired password', { passwordSetAt: new Date('2020-01-01T00:00:00Z') }, 'Your password has expired'],
  ])('must replace %s before the login succeeds, also after a reload', async (_case, more, title) => {
    const name = await site.newUser(more);
    const page = await open();
    await on(page).logIn(name);
    await on(page).heading(title).waitFor();
    expect(await tokensOf(page)).toBeNull();
    await page.reload();
    await on(page).heading(title).waitFor();

    await on(page).field('New password').fill(password);
    await on(page).field('Repeat the new password').fill(password);
    await on(page).button('Save password').click();
    await page.getByText('This password was used before. Choose another one.').waitFor();
    await on(page).field('New password').fill(goodPassword(2));
    await on(page).field('Repeat the new password').fill(goodPassword(2));
    await on(page).button('Save password').click();
    await page.getByText('Your password has been changed.').waitFor();
    await on(page).logIn(name, goodPassword(2));
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('can abandon a forced password change and return to the login page', async () => {
    const page = await open();
    await on(page).logIn(await site.newUser({ temporary: true }));
    await on(page).heading('Set your password').waitFor();
    await on(page).link('Back to sign in').click();
    await on(page).heading('Sign in').waitFor();
  });

  it('sets up an authenticator: QR code and key hold the same secret, and a reload makes a new one', async () => {
    const { page, name } = await site.signedIn();
    const before = await tokensOf(page);
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const picture = page.getByAltText('QR code for the authenticator app');
    await picture.waitFor();
    const key = async () => ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    const first = await key();
    let png: Buffer = Buffer.alloc(0);
    await page.route('**/otp-qrcode/*', async (route) => {
      const response = await route.fetch();
      png = await response.body();
      await route.fulfill({ response });
    });
    await page.reload();
    await picture.waitFor();
    const secret = await key();
    expect(secret).not.toBe(first);
    const uri = (await on(page).link('Open in an app on this device').getAttribute('href')) ?? '';
    expect(uri).toContain(`secret=${secret}`);
    expect(modulesOf(png)).toEqual(modulesFor(uri));
    await on(page).enterCode(site.authenticatorCode(secret));
    await page.getByText('Your authenticator app is set up.').waitFor();
    await page.getByText('An authenticator app is set up for your account.').waitFor();
    await page.getByText('You signed in with your password and a one-time code.').waitFor();
    // The service has revoked the session that enrolled.
    const { access } = JSON.parse(before ?? '{}') as { access: string };
    await eventually(async () => (await site.service.get('/user/me', { bearer: access })).status === 401, {
      what: 'the former session to end',
    });
    await page.reload();
    await on(page).heading('Security').waitFor();
    await on(page).section('Profile');
    await on(page).heading(`Hello, ${name}`).waitFor();
  });

  it('needs a code of the current authenticator to replace it when the session is not young', async () => {
    const { page } = await site.signedIn();
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).link('Replace authenticator').waitFor();
    site.service.clock.advanceSeconds(600);
    await on(page).link('Replace authenticator').click();
    await on(page).heading('Confirm it is you').waitFor();
    await page.getByLabel('Current code').fill(site.authenticatorCode(secret));
    await page.getByAltText('QR code for the authenticator app').waitFor();
    expect(((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '')).not.toBe(secret);
    await on(page).link('Cancel').click();
    await page.getByText('An authenticator app is set up for your account.').waitFor();
  });

  it('has one session in all tabs: each shows a login and a logout, and one tab refreshes for all', async () => {
    const { page, name } = await site.signedIn();
    const tabs = [page, ...(await Promise.all([1, 2, 3].map(() => page.context().newPage())))];
    for (const tab of tabs.slice(1)) {
      await tab.goto('/');
      await on(tab).heading(`Hello, ${name}`).waitFor();
    }
    let refreshes = 0;
    page.context().on('request', (request) => {
      if (request.url().endsWith('/refresh')) refreshes++;
    });
    // A card that is still loading would refresh already, on a page that is then left.
    for (const tab of tabs) await tab.goto('about:blank');
    site.service.clock.advanceSeconds(16 * 60);
    await Promise.all(
      tabs.map(async (tab) => {
        const answered = tab.waitForResponse((answer) => answer.url().endsWith('/user/me') && answer.status() === 200);
        await tab.goto('/');
        await answered;
      }),
    );
    expect(refreshes).toBe(1);
    await on(tabs[2]!).signOut();
    for (const tab of tabs) await on(tab).heading('Sign in').waitFor();
    await on(tabs[1]!).logIn(name);
    for (const tab of tabs) await on(tab).heading(`Hello, ${name}`).waitFor();
  });

  it('sees the login page when the session was revoked', async () => {
    const { page, name } = await site.signedIn();
    // A card that is still loading would tell it already, on a page that is then left.
    await page.goto('about:blank');
    await site.service.database.affected(
      'UPDATE login_tokens SET is_revoked = 1 WHERE user_identity = (SELECT uid FROM users WHERE login_name = ?)',
      [name],
    );
    await page.goto('/');
    await page.getByText('Your session has ended. Please sign in again.').waitFor();
  });

  it('sees when the service does not answer, and can continue when it answers again', async () => {
    const { page, name } = await site.signedIn();
    await page.route('**/user/me', (route) => route.abort());
    await page.reload();
    await page.getByText('The service is not responding.').waitFor();
    await page.unroute('**/user/me');
    await on(page).button('Try again').click();
    await on(page).alert().waitFor({ state: 'detached' });
    await on(page).heading(`Hello, ${name}`).waitFor();
    expect(site.takeComplaints()).toEqual([expect.stringContaining('net::ERR_FAILED')]);
  });

  it('finds the focus on the next input or heading after each step', async () => {
    const { page } = await site.signedIn();
    await page.keyboard.press('Tab');
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    await on(page).heading('Set up your authenticator').waitFor();
    const focused = (text: RegExp) =>
      eventually(async () => text.test(await page.evaluate<string>('document.activeElement.textContent')), {
        what: `the focus to be on ${text.source}`,
      });
    await page.getByAltText('QR code for the authenticator app').waitFor();
    await focused(/^Set up your authenticator app$/);
    await on(page).link('Cancel').click();
    await focused(/^Security$/);
    await on(page).link('Demo inbox').click();
    await focused(/^Demo inbox$/);
  });
});
