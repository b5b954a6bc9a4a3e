import type { Dialog, Page } from 'playwright-core';
import { accessibilityViolations, overflow, resize, schemes, sizes, takePicture } from '../support/browser/pictures';
import { on, PortalSite } from '../support/browser/portal-site';

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

describe('a user with a second factor, where devices can be trusted', () => {
  let site: PortalSite;

  beforeAll(async () => {
    site = await PortalSite.start({ MFA_REQUIRED: 'true', MFA_TRUSTED_DEVICE_DAYS: '30' });
  });
  afterAll(() => site.stop());
  afterEach(() => expect(site.takeComplaints()).toEqual([]));

  const confirm = async (page: Page, code: string): Promise<void> => {
    // Before the page knows that devices can be trusted, the sixth digit submits the code.
    await page.getByRole('checkbox', { name: /^Trust this device/ }).waitFor();
    await on(page).enterCode(code);
    await on(page).button('Confirm').click();
  };
  const atCode = async (name: string, options: Parameters<PortalSite['visitor']>[0] = {}): Promise<Page> => {
    const page = await site.visitor({ userAgent: firefox, ...options });
    await page.goto('/');
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    return page;
  };
  const signedIn = async (name: string, options: Parameters<PortalSite['visitor']>[0] = {}): Promise<Page> => {
    const page = await atCode(name, options);
    await confirm(page, await site.mailedCode(name));
    await on(page).heading(`Hello, ${name}`).waitFor();
    return page;
  };
  const signOut = async (page: Page): Promise<void> => {
    await on(page).signOut();
    await on(page).heading('Sign in').waitFor();
  };
  const setUpAuthenticator = async (page: Page): Promise<void> => {
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).link('Replace authenticator').waitFor();
  };
  const devices = (page: Page) => page.getByRole('region', { name: 'Trusted devices' });

  it('is warned without recovery codes, and signs in with one of them after the phone is lost, once', async () => {
    const name = await site.newUser();
    const page = await signedIn(name);
    await setUpAuthenticator(page);
    await page.getByText('You have no recovery codes. Make new codes').waitFor();
    await on(page).button('Make recovery codes').click();
    const code = (await page.locator('.codes code').first().textContent()) ?? '';
    await on(page).button('I have saved them').click();
    await signOut(page);

    const lost = async (): Promise<void> => {
      await on(page).logIn(name);
      await on(page).button('Lost your phone?').click();
      await on(page).field('Recovery code').fill(code.toUpperCase().replace('-', ' '));
      await on(page).button('Confirm').click();
    };
    await lost();
    await on(page).heading(`Hello, ${name}`).waitFor();
    await on(page).section('Security');
    await page.getByText('Recovery codes left: 9.').waitFor();
    await signOut(page);
    await lost();
    await page.getByText('The code is wrong or has been used. Attempts left: 4.').waitFor();
  });

  it('is asked before new recovery codes are left that are not saved, and not after', async () => {
    const page = await signedIn(await site.newUser());
    await on(page).section('Security');
    await on(page).button('Make recovery codes').click();
    await page.locator('.codes code').first().waitFor();
    const asked: string[] = [];
    page.on('dialog', (question: Dialog) => {
      asked.push(question.message());
      void question.dismiss();
    });
    await page.getByRole('link', { name: 'Devices' }).first().click();
    await on(page).button('Sign out').first().click();
    expect(asked).toEqual(Array(2).fill('These codes are not shown again. Leave without saving them?'));
    await on(page).button('I have saved them').click();
    await on(page).section('Devices');
    expect(asked).toHaveLength(2);
  });

  it('goes back from the recovery code to the usual code', async () => {
    const page = await atCode(await site.newUser());
    await on(page).button('No access to your e-mail?').click();
    await on(page).heading('Use a recovery code').waitFor();
    await on(page).button('Confirm').click();
    await page.getByText('Enter all ten characters of the code.').waitFor();
    await on(page).button('Use the other code').click();
    await on(page).heading('Enter your code').waitFor();
  });

  it('needs no code on a trusted device, until the trust is removed', async () => {
    const name = await site.newUser();
    const page = await atCode(name);
    await page.getByRole('checkbox', { name: 'Trust this device for 30 days' }).check();
    await confirm(page, await site.mailedCode(name));
    await on(page).heading(`Hello, ${name}`).waitFor();
    await on(page).section('Devices');
    await devices(page).getByText('Firefox on Windows').waitFor();
    await signOut(page);
    await on(page).logIn(name);
    await on(page).section('Security');
    await page.getByText('You signed in with your password and a trusted device.').waitFor();

    await on(page).section('Devices');
    await on(page).button('Remove: Firefox on Windows').click();
    await devices(page).getByText('You trust no device.').waitFor();
    await signOut(page);
    site.service.clock.advanceSeconds(61);
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
  });

  it('proves the authenticator on a trusted device in place before it makes recovery codes', async () => {
    const name = await site.newUser();
    const page = await signedIn(name);
    await on(page).section('Security');
    await on(page).link('Set up authenticator').click();
    const secret = ((await page.locator('.key code').textContent()) ?? '').replaceAll(' ', '');
    await on(page).enterCode(site.authenticatorCode(secret));
    await on(page).link('Replace authenticator').waitFor();
    await signOut(page);
    await on(page).logIn(name);
    await on(page).heading('Enter your code').waitFor();
    site.service.clock.advanceSeconds(61);
    await page.getByRole('checkbox', { name: 'Trust this device for 30 days' }).check();
    await confirm(page, site.authenticatorCode(secret));
    await on(page).heading(`Hello, ${name}`).waitFor();
    await signOut(page);
    await on(page).logIn(name);
    await on(page).section('Security');
    await page.getByText('You signed in with your password and a trusted device.').waitFor();

    await on(page).button('Make recovery codes').click();
    await on(page).fresh().waitFor();
    site.service.clock.advanceSeconds(61);
    await on(page).confirmPassword();
    await on(page).fresh().getByLabel('Six-digit code').fill(site.authenticatorCode(secret));
    await page.locator('.codes code').first().waitFor();
  });

  describe.each(schemes)('in %s', (colorScheme) => {
    const check = async (page: Page, name: string): Promise<void> => {
      for (const [size, viewport] of Object.entries(sizes)) {
        await resize(page, viewport);
        await takePicture(page, `${name}-${size}-${colorScheme}`);
        expect([size, await accessibilityViolations(page)]).toEqual([size, []]);
        expect([size, await overflow(page)]).toEqual([size, 0]);
      }
    };

    it('finds every state of the account page accessible, without sideways scrolling', async () => {
      const name = await site.newUser();
      await signedIn(name, { userAgent: iphone });
      site.service.clock.advanceSeconds(61);
      const page = await atCode(name, { colorScheme });
      await page.getByRole('checkbox').check();
      await check(page, 'security-code');
      await on(page).button('No access to your e-mail?').click();
      await check(page, 'security-code-recovery');
      await on(page).button('Use the other code').click();
      await confirm(page, await site.mailedCode(name));
      await on(page).section('Devices');
      await devices(page).getByText('Firefox on Windows').waitFor();
      await check(page, 'security-devices');
      await on(page).section('Security');
      await page.getByText('You have no recovery codes.').waitFor();
      await on(page).button('Change password').click();
      await on(page).button('Save password').click();
      await page.locator('.field-error').first().waitFor();
      await check(page, 'security-password');
      await on(page).button('Cancel').click();
      await on(page).button('Make recovery codes').click();
      await page.locator('.codes code').first().waitFor();
      await check(page, 'security-codes');
      await on(page).button('I have saved them').click();
      site.service.clock.advanceSeconds(600);
      await on(page).button('Make new codes').click();
      await page.getByText('Recovery codes that then stop working: 10.').waitFor();
      await check(page, 'security-ask');
      await on(page).button('Make new codes').click();
      await on(page).fresh().waitFor();
      await check(page, 'security-fresh-login');
      await page.keyboard.press('Escape');
      await on(page).fresh().waitFor({ state: 'detached' });
      for (const language of ['de', 'zh-CN']) {
        await page.locator('footer select').first().selectOption(language);
        await page.locator(`html[lang=${language}]`).waitFor();
        await check(page, `security-${language}`);
      }
    });
  });
});
