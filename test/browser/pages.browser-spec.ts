import type { Page } from 'playwright-core';
import { becomes } from '../support/browser/becomes';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';
import { mailedToken } from '../support/reset';
import { eventually } from '../support/servers/eventually';

type Reach = (page: Page) => Promise<unknown>;

/** Checks every page in light and dark: no accessibility violations, and no horizontal scrolling in any language. */
function showEach(site: () => PortalSite, pages: Readonly<Record<string, Reach>>): void {
  describe.each(schemes)('in %s', (colorScheme) => {
    it.each(Object.entries(pages))('%s is accessible and does not scroll sideways', async (name, reach) => {
      const page = await site().visitor({ colorScheme, viewport: sizes.desktop });
      await reach(page);
      await takePicture(page, `${name}-desktop-${colorScheme}`);
      expect(await accessibilityViolations(page)).toEqual([]);
      await resize(page, sizes.phone);
      await takePicture(page, `${name}-phone-${colorScheme}`);
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      for (const language of ['de', 'zh-CN']) {
        await page.locator('footer select').first().selectOption(language);
        await page.locator(`html[lang=${language}]`).waitFor();
        await takePicture(page, `${name}-phone-${colorScheme}-${language}`);
        expect([language, await overflow(page)]).toEqual([language, 0]);
        await resize(page, sizes.desktop);
        await takePicture(page, `${name}-desktop-${colorScheme}-${language}`);
        await resize(page, sizes.phone);
      }
      expect(site().takeComplaints()).toEqual([]);
      await page.context().close();
    });
  });
}

const visit =
  (path: string, heading: RegExp): Reach =>
  async (page) => {
    await page.goto(path);
    await on(page).heading(heading).waitFor();
  };

describe('the pages', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start();
    await site.service.givenUser('alice', { nickname: 'Alice Example' });
    await site.service.givenUser('dave', { temporary: true });
    await site.service.givenUser('carol', { passwordSetAt: new Date('2020-01-01T00:00:00Z') });
  });
  afterAll(() => site.stop());

  showEach(() => site, {
    login: visit('/', /Sign in/),
    'login-incomplete': async (page) => {
      await page.goto('/');
      await on(page).button('Sign in').click();
      await page.locator('.field-error').first().waitFor();
    },
    'login-refused': async (page) => {
      await page.goto('/');
      await on(page).logIn('nobody');
      await on(page).alert().waitFor();
    },
    forgot: visit('/forgot-password', /Forgot/),
    'forgot-sent': async (page) => {
      await page.goto('/forgot-password');
      await on(page)
        .field('E-mail address')
        .fill(`${await site.newUser()}@example.com`);
      await on(page).button('Send link').click();
      await on(page).heading('Check your inbox').waitFor();
    },
    reset: async (page) => {
      await page.goto(`/reset-password?uid=${await mailedToken(site.service, `${await site.newUser()}@example.com`)}`);
      await on(page).field('New password').fill('Short');
      await on(page).button('Save password').click();
      await page.locator('.field-error').first().waitFor();
    },
    'reset-first': async (page) => {
      await page.goto('/');
      await on(page).logIn('dave');
      await on(page).heading('Set your password').waitFor();
    },
    'reset-expired': async (page) => {
      await page.goto('/');
      await on(page).logIn('carol');
      await on(page).heading('Your password has expired').waitFor();
    },
    missing: visit('/nowhere', /Page not found/),
    'reset-broken': visit('/reset-password?uid=x', /does not work/),
    account: async (page) => {
      await page.goto('/');
      await on(page).logIn('alice');
      await on(page).heading('Hello, Alice Example').waitFor();
    },
    'account-tab-only': async (page) => {
      await page.addInitScript(
        `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };`,
      );
      await page.goto('/');
      await on(page).logIn('alice');
      await page.getByText('This browser does not store your sign-in').waitFor();
    },
    authenticator: async (page) => {
      await page.goto('/');
      await on(page).logIn('alice');
      await on(page).section('Security');
      await on(page).link('Set up authenticator').click();
      await page.getByAltText('QR code for the authenticator app').waitFor();
    },
    outbox: async (page) => {
      await page.goto('/outbox');
      await page.locator('.mails li').first().waitFor();
    },
  });

  it('are in Chinese for a Chinese browser, and then in the chosen language', async () => {
    const page = await site.visitor({ locale: 'zh-CN', viewport: sizes.phone });
    await page.goto('/');
    await page.getByRole('heading', { name: '登录' }).waitFor();
    await page.locator('html[lang=zh-CN]').waitFor();
    await takePicture(page, 'login-phone-chinese');
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByLabel('语言').selectOption('en');
    await on(page).heading('Sign in').waitFor();
    await page.reload();
    await on(page).heading('Sign in').waitFor();
    await page.context().close();
  });

  it('are dark when the user chooses so, whatever the setting of the system is', async () => {
    const page = await site.visitor({ colorScheme: 'light' });
    await page.goto('/');
    const paper = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await paper();
    await page.getByLabel('Appearance').selectOption('Dark');
    await eventually(async () => (await paper()) !== light, { what: 'the dark page' });
    const dark = await paper();
    await page.reload();
    await on(page).heading('Sign in').waitFor();
    await becomes(paper, dark);
    await page.context().close();
  });
});

describe('the pages of the second factor', () => {
  let site: PortalSite;
  const logInAsNewUser = async (page: Page): Promise<string> => {
    const loginName = await site.newUser();
    await page.goto('/');
    await on(page).logIn(loginName);
    await on(page).heading('Enter your code').waitFor();
    return loginName;
  };

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true' });
  });
  afterAll(() => site.stop());

  showEach(() => site, {
    code: logInAsNewUser,
    'code-resumed': async (page) => {
      const name = await logInAsNewUser(page);
      await on(page).button('Back to sign in').click();
      await on(page).logIn(name);
      await page.getByText('is still valid').waitFor();
    },
    'code-refused': async (page) => {
      await logInAsNewUser(page);
      await on(page).enterCode('000000');
      await on(page).alert().waitFor();
    },
  });
});
